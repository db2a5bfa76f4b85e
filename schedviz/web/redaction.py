"""Removes the secrets that stand in addresses from log lines: share links, login links, invites, room codes, OpenID Connect's codes."""

from __future__ import annotations

import re
from typing import Any, Final

REDACTED: Final = "[redacted]"
#: Query parameters whose value lets somebody in, plain or percent-encoded inside another address (`next=`).
_PARAMETERS = re.compile(r"((?:[?&]|%3F|%26)(?:link|once|code|state|token|id_token|access_token)(?:=|%3D))[^&\s\"'<>\\]+", re.IGNORECASE)
#: Paths that end in a secret: `/invite/<secret>/` and `/r/<room code>/`.
_PATHS = re.compile(r"(/(?:invite|r)/+)[^/\s\"'?&<>\\]+", re.IGNORECASE)


def redact(text: str) -> str:
    """A log line, or a part of one, without the secrets of the addresses in it."""
    return _PATHS.sub(rf"\1{REDACTED}", _PARAMETERS.sub(rf"\1{REDACTED}", text))


def redact_address(address: str) -> str:
    """A path without its whole query, however its parameters are spelled, and without the secrets in it."""
    path, mark, _ = address.partition("?")
    return redact(path) + (f"?{REDACTED}" if mark else "")


def redact_rendered(_logger: Any, _name: str, line: str) -> str:
    """`redact` as structlog's last processor, after the line is rendered, so that tracebacks are covered."""
    return redact(line)
