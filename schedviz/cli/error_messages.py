"""Messages for failing commands: one sentence for errors that the user can fix, a log file for bugs."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path

import click

#: What the operating system raises if there is no room, or not for this user.
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

#: The value of `--token`, plain or quoted, and the credentials in a URL.
_TOKEN = re.compile(r"--token(?:=|\s+)(?:'[^']*'|\S+)")
_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
#: Characters of an exception's message in the sentence about a bug.
_MAX_SUMMARY_LENGTH = 200


class MultilineError(click.ClickException):
    """An error whose message has several lines. Line breaks inside a line are escaped, as in other messages."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def explain(error: Exception) -> str | None:
    """The sentence for an error that is not a bug: one raised on purpose, or a refusal of the operating system. None: a bug.

    Messages of our own packages and of our settings are written for users, but a broken invariant is a bug.
    """
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        return f"The output could not be written: {error.strerror}. Free some space, or write to another disk."
    kind = type(error)
    is_own_error = kind.__module__.split(".")[0] == "schedviz" and kind.__name__ != "InvariantError"
    # Compared by name: most commands do not need Django, which takes long to import.
    if is_own_error or (kind.__module__, kind.__name__) == ("django.core.exceptions", "ImproperlyConfigured"):
        return str(error)
    return None


def explain_bug(error: Exception) -> str:
    """A sentence about an error that is a bug, with the file to which its traceback was written."""
    summary = " ".join(f"{type(error).__name__}: {error}".split())[:_MAX_SUMMARY_LENGTH]
    path = record(error)
    details = f"Details are in {path}" if path else "Details could not be written to a file."
    return f"this is a bug in schedviz ({summary}). {details}"


def record(error: Exception) -> Path | None:
    """The file to which the traceback of a bug was appended, without secrets; None if it cannot be written."""
    story = "".join(traceback.format_exception(error))
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    text = _without_secrets(f"\n{stamp} {shlex.join(sys.argv)}\n{story}")
    try:
        path = _log_folder() / "cli.log"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as log:
            log.write(text)
    except OSError:
        return None
    return path


def _without_secrets(text: str) -> str:
    """The text without the values of `--token` and without passwords in URLs: people attach the file to reports."""
    return _PASSWORD.sub("[redacted]@", _TOKEN.sub("--token [redacted]", text))


def _log_folder() -> Path:
    state_home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(state_home) / "schedviz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="schedviz-"))
    return folder
