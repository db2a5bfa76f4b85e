"""Makes text safe for log lines and messages: removes the secrets of addresses, replaces control characters, limits the length."""

from __future__ import annotations

import re
from typing import Any, Final

REDACTED: Final = "[redacted]"
#: Query parameters with secret values, plain or percent-encoded in another address (`next=`).
_PARAMETERS = re.compile(r"((?:[?&]|%3F|%26)(?:link|once|code|state|token|id_token|access_token)(?:=|%3D))[^&\s\"'<>\\]+", re.IGNORECASE)
#: Paths that end in a secret: `/invite/<secret>/` and `/r/<room code>/`.
_PATHS = re.compile(r"(/(?:invite|r)/+)[^/\s\"'?&<>\\]+", re.IGNORECASE)


def redact(text: str) -> str:
    """A log line, or a part of one, with the secrets of its addresses redacted."""
    return _PATHS.sub(rf"\1{REDACTED}", _PARAMETERS.sub(rf"\1{REDACTED}", text))


def redact_address(address: str) -> str:
    """A path with its whole query redacted, however its parameters are spelled, and the secrets in the path."""
    path, mark, _ = address.partition("?")
    return redact(path) + (f"?{REDACTED}" if mark else "")


def redact_rendered(_logger: Any, _name: str, line: str) -> str:
    """`redact` as structlog's last processor, after the line is rendered, so that tracebacks are covered."""
    return redact(line)


def printable(text: str, longest: int) -> str:
    """The first characters of a text in one line; unprintable characters, such as line breaks, are replaced."""
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text[:longest])
    return line if len(text) <= longest else f"{line[:-1]}\N{HORIZONTAL ELLIPSIS}"
