"""What to say when a command fails: one sentence for what the user can mend, a log file for what only we can."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

import click


class SeveralLines(click.ClickException):
    """What cannot be done, in several lines. A line break inside one of them is escaped, as in any other message."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def explain(error: Exception) -> str | None:
    """The sentence for an error that is no bug: one that this project raises on purpose, or the system's refusal. None: a bug.

    What our own packages raise is made to be read, and so is what our settings say of the environment; but a broken invariant is a bug.
    """
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    kind = type(error)
    ours = kind.__module__.split(".")[0] == "schedviz" and kind.__name__ != "InvariantError"
    # By its name: most commands do without Django, which takes a while to import.
    if ours or (kind.__module__, kind.__name__) == ("django.core.exceptions", "ImproperlyConfigured"):
        return str(error)
    return None


def record(error: Exception) -> Path:
    """The file to which the whole story of a bug was appended."""
    folder = _log_folder()
    path = folder / "cli.log"
    story = "".join(traceback.format_exception(error))
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as log:
        log.write(f"\n{stamp} {' '.join(sys.argv)}\n{story}")
    return path


def _log_folder() -> Path:
    state_home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(state_home) / "schedviz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="schedviz-"))
    return folder
