"""Makes characters visible that change how the text around them is drawn. Names of objects in files may contain them."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from schedviz.trace.json_texts import with_texts

#: Unicode categories: control and format characters (bidi controls, zero-width ones), lone surrogates, line and paragraph separators.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: Formats such as HTML read these as space.
_SPACE: Final = "\n\r\t"


def visible_text(text: str) -> str:
    """The text, with such characters as `\\u202e`; line breaks and tabs stay."""
    return text if text.isprintable() else "".join(map(_visible, text))


def with_visible_text(value: Any) -> Any:
    """A JSON value, in whose texts and keys such characters are visible."""
    return with_texts(value, visible_text)


def _visible(letter: str) -> str:
    is_visible = letter in _SPACE or unicodedata.category(letter) not in _INVISIBLE
    return letter if is_visible else letter.encode("unicode_escape").decode()
