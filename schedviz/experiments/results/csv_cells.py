"""Texts as cells of CSV files that spreadsheets may open: no part of a text is read as a formula.

As OWASP recommends ("CSV Injection"), a cell that begins with a character of formulas gets an apostrophe. Quotes around the cell do not
suffice: a spreadsheet whose separator is the semicolon or the tabulator divides cells of a comma-separated file in the middle of a text,
and a line break begins a new row for it. So the same holds after each of these.
"""

from __future__ import annotations

import re
from typing import Final

#: A place where a cell may begin, before a character with which formulas begin (also its full-width form), with quotes and spaces between.
_FORMULA: Final = re.compile("(?:\\A|[;\\t\\r\\n])(?=[ \"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])|\\A(?=[\\t\\r\\n])")


def plain_cell(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet would read a formula."""
    return _FORMULA.sub(lambda begin: f"{begin[0]}'", text)
