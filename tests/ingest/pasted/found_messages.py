"""Messages in a text, for tests of what they are."""

from __future__ import annotations

from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.pasted_text import messages_in
from schedviz.ingest.scheduler_messages import PodMessage


def found_messages(text: str, *, of_others: bool = True) -> list[PodMessage]:
    """As `messages_in`, of a text as it was copied."""
    return messages_in(CopiedText(text), of_others=of_others)
