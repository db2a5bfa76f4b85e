"""uvicorn's log lines in our format, without the secrets of addresses, and one line for each refused WebSocket handshake."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import websockets
from uvicorn.logging import ColourizedFormatter

from schedviz.web.redaction import REDACTED, redact_address

_LOGGERS: Final = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")
_WEBSOCKETS: Final = str(Path(websockets.__file__).parent)
#: Handshakes that are not valid are refused by the library, without a line of uvicorn; 500 is a bug of ours.
_REFUSED_BY_THE_LIBRARY: Final = {400, 405, 426, 500, 505}
#: uvicorn's WebSocketsSansIOProtocol writes this error after each handshake that the application refuses with a body.
_FALSE_ERROR: Final = "ASGI callable returned without completing handshake."


class UvicornLines(logging.Filter):
    """Cuts the query off every address, and drops the library's lines about what uvicorn has said already."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg == _FALSE_ERROR or (record.pathname.startswith(_WEBSOCKETS) and not _is_news(record)):
            return False
        if isinstance(record.args, tuple):
            record.args = tuple(_without_secrets(each) for each in record.args)
        return True


def adopt() -> None:
    """Send uvicorn's lines to our handler. Called while uvicorn loads the application, before it writes its first line.

    Handlers of an operator's own `--log-config` stay; their lines are filtered, too.
    """
    lines = UvicornLines()
    for logger in map(logging.getLogger, _LOGGERS):
        logger.addFilter(lines)
        for handler in list(logger.handlers):
            if isinstance(handler.formatter, ColourizedFormatter):
                logger.removeHandler(handler)
                logger.propagate = True


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of the WebSocket library says what no other line does. Its DEBUG lines have cookies and tokens in them."""
    if record.levelno >= logging.WARNING:
        return True
    status: Any = record.args[0] if isinstance(record.args, tuple) and record.args else None
    return record.msg == "connection rejected (%d %s)" and status in _REFUSED_BY_THE_LIBRARY


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redact_address(value)
    if isinstance(value, dict) and "query_string" in value:
        # An ASGI scope, at uvicorn's level `trace`; a share link may be among the subprotocols.
        hidden = {name: REDACTED for name in ("raw_path", "query_string", "subprotocols") if value.get(name)}
        return {**value, "path": redact_address(str(value.get("path"))), **hidden}
    return value
