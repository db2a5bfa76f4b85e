"""The names under which a client without a request of its own counts against limits."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from schedviz.web.auth.actors import Actor
from schedviz.web.live.handshake import address_group_of


class ClientNames(NamedTuple):
    """Who has opened a socket or an event stream."""

    #: The user or participant; "" for an anonymous client.
    identity: str = ""
    #: The clients without an account of one address, if it is one of them; else "".
    address_group: str = ""

    @classmethod
    def of_actor(cls, actor: Actor, network: str) -> ClientNames:
        """The names of an actor with an address in this network. Queries the database."""
        return cls(actor.identity, address_group_of(actor, network))

    def for_database(self, session_id: UUID) -> str:
        """For whom calls of the database count: all anonymous viewers of a session count together."""
        return self.identity or f"viewers of {session_id}"

    def for_budget(self, session_id: UUID) -> str:
        """For whom the characters of messages count."""
        return self.address_group or self.for_database(session_id)

    def for_validation(self, session_id: UUID) -> str:
        """For whom the validation of commands counts."""
        return self.identity or self.for_budget(session_id)
