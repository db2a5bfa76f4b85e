"""Makes characters visible that change how the text around them is drawn, in every text of a card."""

from __future__ import annotations

import msgspec

from schedviz.explain.card.model import Card
from schedviz.trace.visible_text import with_visible_text


def visible_card(card: Card) -> Card:
    """The card, with such characters as `\\u202e`."""
    return msgspec.convert(with_visible_text(msgspec.to_builtins(card)), Card)
