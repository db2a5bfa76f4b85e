"""Formats uvicorn's log lines, redacts the secrets of addresses, and logs one line for each refused WebSocket handshake."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import websockets
from uvicorn.logging import ColourizedFormatter

from schedviz.web.redaction import REDACTED, redact_address

_LOGGERS: Final = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")
_WEBSOCKETS: Final = str(Path(websockets.__file__).parent)
#: The library refuses invalid handshakes without a log line of uvicorn; 500 is an internal error.
_REFUSED_BY_THE_LIBRARY: Final = {400, 405, 426, 500, 505}
#: uvicorn's WebSocketsSansIOProtocol logs this error after each handshake that the application refuses with a body.
_FALSE_ERROR: Final = "ASGI callable returned without completing handshake."


class UvicornLines(logging.Filter):
    """Removes the query from addresses, and drops lines of the library that repeat uvicorn's."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg == _FALSE_ERROR or (record.pathname.startswith(_WEBSOCKETS) and not _is_news(record)):
            return False
        if isinstance(record.args, tuple):
            record.args = tuple(_without_secrets(arg) for arg in record.args)
        return True


def adopt() -> None:
    """Send uvicorn's log lines to our handler. Called while uvicorn loads the application, before its first line.

    Handlers of an operator's `--log-config` are kept; their lines are filtered too.
    """
    lines = UvicornLines()
    for logger in map(logging.getLogger, _LOGGERS):
        logger.addFilter(lines)
        for handler in list(logger.handlers):
            if isinstance(handler.formatter, ColourizedFormatter):
                logger.removeHandler(handler)
                logger.propagate = True


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of the WebSocket library has information that no other line has. Its DEBUG lines contain cookies and tokens."""
    if record.levelno >= logging.WARNING:
        return True
    status: Any = record.args[0] if isinstance(record.args, tuple) and record.args else None
    return record.msg == "connection rejected (%d %s)" and status in _REFUSED_BY_THE_LIBRARY


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redact_address(value)
    if isinstance(value, dict) and "query_string" in value:
        # An ASGI scope, at uvicorn's level `trace`: its subprotocols may contain a share link.
        hidden = {name: REDACTED for name in ("raw_path", "query_string", "subprotocols") if value.get(name)}
        return {**value, "path": redact_address(str(value.get("path"))), **hidden}
    return value
