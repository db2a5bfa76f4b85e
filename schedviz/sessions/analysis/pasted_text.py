"""Explains the scheduler's messages in a pasted text, without a session. Runs in an io worker."""

from __future__ import annotations

import msgspec

from schedviz.explain.message import Message, NotAMessageError, parse_message
from schedviz.ingest.pasted_text import messages_in
from schedviz.sessions.redis.replies import reply


class PastedMessage(msgspec.Struct, frozen=True, rename="camel"):
    """A message of the scheduler, and its clauses."""

    #: `namespace/name`; "": the text does not name it.
    pod: str
    #: When it was sent, as the text has it ("5m ago"); "": unknown.
    at: str
    text: str
    message: Message


def explain_text(text: str) -> list[PastedMessage]:
    """The messages in a text, in its order. A text without one has none."""
    found: list[PastedMessage] = []
    for said in messages_in(text):
        try:
            found.append(PastedMessage(said.pod, said.at, said.message, parse_message(said.message)))
        except NotAMessageError:
            continue
    return found


def reply_to(text: bytes, place: str) -> None:
    """Explain a text (JSON), and leave the result (JSON) at `place`."""
    reply(place, msgspec.json.encode({"messages": explain_text(msgspec.json.decode(text, type=str))}))
