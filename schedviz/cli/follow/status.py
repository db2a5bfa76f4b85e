"""The status line of `schedviz follow`: pushed changes, and the agreement of the cluster's scheduler with schedviz."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any, Final

from schedviz.cli.follow.outage import Outage
from schedviz.cli.follow.pushing import Pusher
from schedviz.cli.rest_client import RestClient
from schedviz.terminal import say, say_over

_OK: Final = 200
#: How often the line is printed: on a terminal in place, elsewhere as a new line if it has changed.
TERMINAL_SECONDS: Final = 2.0
LOG_SECONDS: Final = 60.0


class Status:
    """Prints the line from a thread until it is stopped."""

    def __init__(self, server: RestClient, session: str, pusher: Pusher, outage: Outage) -> None:
        self._server = server
        self._path = f"sessions/{session}/agreement/?limit=0"
        self._pusher = pusher
        self._outage = outage
        self._is_terminal = sys.stderr.isatty()
        self._stop = threading.Event()
        self._said = ""

    def start(self) -> None:
        """Start printing."""
        threading.Thread(target=self._run, name="status", daemon=True).start()

    def stop(self) -> None:
        """Stop printing."""
        self._stop.set()
        if self._is_terminal and self._said:
            say(err=True)

    def clear(self) -> None:
        """Clear the line for another message."""
        if self._is_terminal and self._said:
            say_over()

    def _run(self) -> None:
        pushed, measured_at = self._pusher.pushed, time.monotonic()
        while not self._stop.wait(TERMINAL_SECONDS if self._is_terminal else LOG_SECONDS):
            now, count = time.monotonic(), self._pusher.pushed
            line = line_of(count, (count - pushed) / (now - measured_at), self._agreement(), self._outage.line)
            pushed, measured_at = count, now
            if self._is_terminal:
                say_over(line)
            elif _without_rate(line) != _without_rate(self._said):
                say(f"schedviz: {line}", err=True)
            self._said = line

    def _agreement(self) -> dict[str, Any] | None:
        """None if the server does not respond; pushing reports the error."""
        try:
            response = self._server.request(self._path)
            return json.loads(response.body) if response.status == _OK else None
        except (OSError, ValueError):
            return None


def line_of(pushed: int, rate: float, found: dict[str, Any] | None, outage: str = "") -> str:
    """What is interrupted, if anything is, and `1,204 changes · 3.2/s · 118 of 120 bindings agree (98.3%), 2 not best · 4 waiting`."""
    parts = [*([outage] if outage else []), f"{pushed:,} change{'' if pushed == 1 else 's'}", f"{rate:.1f}/s"]
    if found is not None:
        parts += [_of_bindings(found["all"]), *([f"{found['waiting']:,} waiting"] if found["waiting"] else [])]
    return " · ".join(parts)


def _of_bindings(counts: dict[str, Any]) -> str:
    if counts["rate"] is None:
        return "no binding was judged yet"
    judged = counts["agrees"] + counts["notBest"] + counts["infeasible"]
    others = [f"{counts[name]:,} {label}" for name, label in _WORDS if counts.get(name)]
    # Rounded down, so that 100% means all.
    percent = int(counts["rate"] * 1000) / 10
    return ", ".join([f"{counts['agrees']:,} of {judged:,} bindings agree ({percent:g}%)", *others])


_WORDS: Final = (
    ("notBest", "feasible but not best"),
    ("infeasible", "infeasible"),
    ("undecided", "undecided"),
    ("unjudged", "not judged"),
)


def _without_rate(line: str) -> str:
    return " · ".join(part for part in line.split(" · ") if not part.endswith("/s"))
