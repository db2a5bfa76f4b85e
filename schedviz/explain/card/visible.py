"""Makes characters visible that change how the text around them is drawn, in every text of a card."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

import msgspec

from schedviz.explain.card.model import Card

#: Unicode categories: control and format characters (bidi controls, zero-width ones), lone surrogates, line and paragraph separators.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: The formats read these as space.
_SPACE: Final = "\n\r\t"


def with_visible_text(card: Card) -> Card:
    """The card, with such characters as `\\u202e`."""
    return msgspec.convert(_visible(msgspec.to_builtins(card)), Card)


def _visible(value: Any) -> Any:
    match value:
        case str():
            return value if value.isprintable() else "".join(map(_escaped, value))
        case dict():
            return {name: _visible(member) for name, member in value.items()}
        case list() | tuple():
            return [_visible(item) for item in value]
    return value


def _escaped(letter: str) -> str:
    is_visible = letter in _SPACE or unicodedata.category(letter) not in _INVISIBLE
    return letter if is_visible else letter.encode("unicode_escape").decode()
