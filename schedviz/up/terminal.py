"""Messages of `schedviz up` on the terminal."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from schedviz.client.server import data_folders
from schedviz.terminal import say, say_over
from schedviz.up.address import ServerAddress


class Terminal:
    """One short line per event; results go to standard output, problems to standard error."""

    def __init__(self, *, server_address: ServerAddress, data: Path, open_browser: bool, page: str = "") -> None:
        self._address = server_address
        self._data = data
        self._open_browser = open_browser
        self._page = page
        #: The line of progress that is shown; "" if there is none.
        self._progress = ""

    def starting(self) -> None:
        _say(f"schedviz starts on {self._address.url}, with its data in {self._data}")
        if self._address.warning:
            self.warn(self._address.warning)

    def progress(self, steps: Mapping[str, bool], seconds: float) -> None:
        """While starting, on a terminal: which parts are up. The line is replaced, and disappears with the next message."""
        if not sys.stderr.isatty():
            return
        parts = ", ".join(f"{name} {'ready' if is_up else '…'}" for name, is_up in steps.items())
        line = f"Starting, {seconds:.0f} s: {parts}"
        if line != self._progress:
            self._progress = line
            with contextlib.suppress(OSError):
                say_over(line)

    def _end_progress(self) -> None:
        if self._progress:
            self._progress = ""
            with contextlib.suppress(OSError):
                say_over()

    def announce(self, login: str, seconds: float) -> None:
        """Everything is up."""
        self._end_progress()
        if self._page:
            login += f"&next={quote(self._page, safe='')}"
        _say()
        _say(f"Ready after {seconds:.1f} s. Open this link; it logs you in, once:")
        _say()
        _say(f"    {login}", bold=True)
        _say()
        if self._address.is_url_for_others:
            _say(f"Others open {self._address.url}. Participants of a room open {self._address.url}/r/ and need its code:")
            _say()
            _say_qr(f"{self._address.url}/r/")
        # Other commands search the default folder only.
        if self._data.resolve() not in (folder.resolve() for folder in data_folders()):
            _say(f"For scripts, and `schedviz` in another terminal: export SCHEDVIZ_DATA={shlex.quote(str(self._data))}")
        _say(f"Scripts find a token for the REST API in {self._data / 'token'}. Ctrl-C stops everything.")
        if self._open_browser and _has_display():
            _open(login)

    def warn(self, sentence: str) -> None:
        self._end_progress()
        _say(sentence, err=True)

    def report_failure(self, child: str, line: str) -> None:
        self._end_progress()
        _say(f"[{child}] {line}", err=True)

    def still_waiting(self, detail: dict[str, Any], logs: Path) -> None:
        """Starting takes long: name the missing components."""
        self._end_progress()
        missing = [_missing(part, str(detail.get(part))) for part in detail.get("down", [])]
        _say(f"Still starting. Not ready yet: {', '.join(missing) or 'the web server'}. If this goes on, see the logs in {logs}", err=True)

    def stopping(self) -> None:
        self._end_progress()
        _say()
        _say("Stopping.")


def _missing(part: str, state: str) -> str:
    """A part that is not up: `workers (engine, io)`, `database (is read-only)`."""
    return f"{part} ({state.removeprefix('no worker serves: ')})"


def _say(line: str = "", *, err: bool = False, **style: Any) -> None:
    """A closed terminal does not stop the server."""
    with contextlib.suppress(OSError):
        say(line, err=err, **style)


def _say_qr(text: str) -> None:
    """A QR code of half blocks, white on black on every terminal; empty if its encoding lacks them."""
    import segno

    drawn = io.StringIO()
    segno.make_qr(text).terminal(drawn, compact=True, border=2)
    lines = drawn.getvalue().splitlines()
    try:
        "█▀▄".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return
    for line in lines:
        _say(line, fg="bright_white", bg="black")
    _say()


def _has_display() -> bool:
    """Whether there is a graphical browser. Without one, `webbrowser` may start a text browser in this terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(url: str) -> None:
    """Open the browser so that it outlives this process."""
    subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "webbrowser", url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
