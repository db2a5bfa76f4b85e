"""Makes characters visible that change how the text around them is drawn, in every text of a card."""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.explain.card.model import Card
from schedviz.trace.visible_text import visible_text


def with_visible_text(card: Card) -> Card:
    """The card, with such characters as `\\u202e`."""
    return msgspec.convert(_visible(msgspec.to_builtins(card)), Card)


def _visible(value: Any) -> Any:
    match value:
        case str():
            return visible_text(value)
        case dict():
            return {name: _visible(member) for name, member in value.items()}
        case list() | tuple():
            return [_visible(item) for item in value]
    return value
