"""What is said of a command that was accepted: a line in the log, and its trace, which the worker that does it goes on with."""

from __future__ import annotations

from uuid import UUID

import structlog

from schedviz.sessions import tracing

log = structlog.get_logger(__name__)


def tell(session_id: UUID, seq: int, op: str) -> None:
    """The command with this number is stored."""
    log.debug("command accepted", session=str(session_id), command=seq, op=op)
    with tracing.span("accept", session=str(session_id), command=seq):
        tracing.send_on(session_id, seq)
