"""Single-line texts, such as titles and names. Control characters are excluded, because they would break log lines, headers and
terminals.
"""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
#: The pattern for msgspec. It ends with `\Z`, because `$` also matches before a trailing line break; in JSON Schema `$` means the end.
ONE_LINE: Final = rf"\A[^{_CONTROL}]*\Z"
ONE_LINE_OF_JSON_SCHEMA: Final = rf"^[^{_CONTROL}]*$"
_OTHER: Final = re.compile(f"[{_CONTROL}]")


def is_one_line(text: str) -> bool:
    """Whether a text has no line break and no other control character."""
    return text.isprintable() or not _OTHER.search(text)
