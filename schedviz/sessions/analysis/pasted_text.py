"""Explains the scheduler's messages in a pasted text, without a session. Runs in an io worker."""

from __future__ import annotations

import msgspec

from schedviz.explain.message import NotAMessageError, PodMessage, parse_message, parse_messages
from schedviz.ingest.pasted_text import messages_in
from schedviz.sessions.redis.replies import reply


def explain_text(text: str) -> list[PodMessage]:
    """The messages in a text, in its order; a text that is one reason is a message. A text without one has none."""
    found = parse_messages(messages_in(text))
    if found:
        return found
    try:
        return [PodMessage("", "", " ".join(text.split()), parse_message(text))]
    except NotAMessageError:
        return []


def reply_to(text: bytes, place: str) -> None:
    """Explain a text (JSON), and leave the result (JSON) at `place`."""
    reply(place, msgspec.json.encode({"messages": explain_text(msgspec.json.decode(text, type=str))}))
