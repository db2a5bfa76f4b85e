"""Waits for an import, with progress on standard error."""

from __future__ import annotations

import time
from typing import Any

from schedviz.cli.error_messages import MultilineError
from schedviz.cli.remote.options import client_of
from schedviz.cli.remote.printing import ProgressLine

_POLL_SECONDS = 0.5


class ImportFailed(MultilineError):
    """The import failed."""

    exit_code = 1


def imported(server: str | None, token: str | None, session_id: str) -> dict[str, Any]:
    """The session after its import has ended. Raises `ImportFailed`."""
    progress = ProgressLine()
    with client_of(server, token or None) as client:
        session = client.session(session_id)
        while session.status == "importing":
            progress_info = session.info["progress"] or {}
            progress.say(f"{progress_info.get('phase', '')} {progress_info.get('done', '')} {progress_info.get('unit', '')}")
            time.sleep(_POLL_SECONDS)
            session.refresh()
    progress.end()
    if session.status == "failed":
        first, *more = session.info["message"].split("\n")
        raise ImportFailed(first, *(f"    {line}" for line in more))
    return session.info
