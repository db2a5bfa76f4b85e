"""Senders: for whom a job counts where limits keep one sender's jobs from delaying those of others.

A sender is a user, a participant of a room, an address, or the visitors of the public demo from one address. Visitors of the demo and
clients without an account are easily many, so those of one kind share a limit, too: a *group*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

#: The group of each kind of sender without an account, by the first word of its name.
_GROUPS: Final = {"guest": "guests", "address": "anonymous", "visitors": "visitors"}
#: The group of visitors of the demo.
VISITORS: Final = _GROUPS["visitors"]
#: What all senders without an account are a part of (`path_of`).
WITHOUT_ACCOUNT: Final = "without an account"


class SenderGroup(msgspec.Struct, frozen=True):
    """A sender and its group: for whom a job counts."""

    #: The sender; for visitors of the demo, all of one address.
    sender: str
    #: The group, which has a limit of its own; "" for a user with an account.
    group: str = ""

    @property
    def counted_as(self) -> str:
        """The group, or a sender that has none: those whose jobs count together."""
        return self.group or self.sender


#: The networks of users who are visitors of the demo, which `register_visitors` replaces.
_networks_of: Callable[[Collection[int]], Mapping[int, str]] = lambda _user_ids: {}  # noqa: E731


def register_visitors(networks_of: Callable[[Collection[int]], Mapping[int, str]]) -> None:
    """Register a function that finds the visitors of the demo among users, each with a digest of the network they came from. It is provided
    by a package above this one, which must not be imported here.
    """
    global _networks_of  # noqa: PLW0603
    _networks_of = networks_of


def name_of(owner_id: int | None) -> str:
    """The name of a user as a sender. Sessions without an owner are those of one user."""
    return f"user {owner_id}"


def sender_group_of(sender: str) -> SenderGroup:
    """For whom the jobs of a sender count: `user 7`, `guest …`, `address …`, `visitors of …`. Visitors can be named as users."""
    kind, _, rest = sender.partition(" ")
    if kind == "user" and rest.isdigit():
        return sender_groups_of_users([int(rest)])[int(rest)]
    return SenderGroup(sender, group_of(sender))


def path_of(sender: str) -> tuple[str, ...]:
    """The sender, after what it is a part of. Those without an account are one part together, in which visitors of the demo are one, other
    clients are one, and participants of rooms (`guest NETWORK DIGEST`) are one for each network: a class has its own.
    """
    group, network = group_of(sender), sender.partition(" ")[2].rpartition(" ")[0]
    if not group:
        return (sender,)
    if group == _GROUPS["guest"]:
        return (WITHOUT_ACCOUNT, f"{group} of {network}", sender) if network else (WITHOUT_ACCOUNT, sender)
    return (WITHOUT_ACCOUNT, group, sender)


def group_of(sender: str) -> str:
    """The group of a sender that `SenderGroup` has; "" for a user with an account."""
    return _GROUPS.get(sender.partition(" ")[0], "")


def sender_groups_of_users(owner_ids: Collection[int | None]) -> dict[int | None, SenderGroup]:
    """For whom the jobs of users count."""
    networks = _networks_of([owner_id for owner_id in owner_ids if owner_id is not None])
    return {
        owner_id: SenderGroup(name_of(owner_id))
        if owner_id is None or owner_id not in networks
        else SenderGroup(f"visitors of {networks[owner_id]}", VISITORS)
        for owner_id in owner_ids
    }


def totals_by_sender(amounts: Mapping[int | None, int], owner_ids: Collection[int | None]) -> dict[int | None, tuple[int, int]]:
    """What the sender of each owner has: with all others of its group, and alone.

    `amounts`: what each owner has, such as its number of hosted sessions.
    """
    senders = sender_groups_of_users(amounts.keys() | set(owner_ids))
    totals: Counter[str] = Counter()
    for owner_id, amount in amounts.items():
        one = senders[owner_id]
        for name in {one.counted_as, one.sender}:
            totals[name] += amount
    return {owner_id: (totals[senders[owner_id].counted_as], totals[senders[owner_id].sender]) for owner_id in owner_ids}
