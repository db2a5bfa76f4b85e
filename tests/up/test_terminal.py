"""The messages of `schedviz up` on a terminal, and in a file."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schedviz.up.terminal import Terminal
from tests.up.server_addresses import address_on

ERASE = "\r\x1b[K"
#: Written after the messages under test.
END = "(end)"


def shown_by(messages: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> str:
    """The output on standard error, which is a terminal."""
    reads, writes = pty.openpty()
    with os.fdopen(reads, "rb", buffering=0) as screen, os.fdopen(writes, "w") as terminal_:
        monkeypatch.setattr(sys, "stderr", terminal_)
        messages()
        # A terminal delivers what was written in parts, and later.
        print(END, end="", file=terminal_, flush=True)
        shown = b""
        while END not in (text := shown.decode()):
            shown += screen.read(4096)
        return text.removesuffix(END)


def terminal() -> Terminal:
    return Terminal(server_address=address_on("127.0.0.1"), data=Path("data"), open_browser=False)


def test_a_slow_start_names_what_is_not_ready_yet(capfd: pytest.CaptureFixture[str]) -> None:
    terminal().still_waiting({"down": ["workers"], "workers": "no worker serves: engine, io"}, Path("logs"))
    assert capfd.readouterr().err == "Still starting. Not ready yet: workers (engine, io). If this goes on, see the logs in logs\n"
    terminal().still_waiting({}, Path("logs"))
    assert "Not ready yet: the web server." in capfd.readouterr().err


def test_a_terminal_shows_which_parts_are_up_on_one_line_that_the_next_message_erases(monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> None:
        starting = terminal()
        starting.progress({"database": True, "workers": False}, 1.4)
        starting.progress({"database": True, "workers": False}, 1.45)
        starting.progress({"database": True, "workers": True}, 2.1)
        starting.warn("The disk is almost full.")

    assert shown_by(start, monkeypatch) == (
        f"{ERASE}Starting, 1 s: database ready, workers …{ERASE}Starting, 2 s: database ready, workers ready{ERASE}The disk is almost full.\r\n"
    )


def test_no_progress_is_written_to_a_file(capfd: pytest.CaptureFixture[str]) -> None:
    terminal().progress({"database": False}, 1.0)
    assert capfd.readouterr() == ("", "")
