"""Watches a session's page in headless Chromium, and notes when each event was drawn."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from bisect import bisect_left
from pathlib import Path
from typing import Any, Self

from playwright.sync_api import sync_playwright

_WINDOW: Any = {"width": 1280, "height": 800}
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update")
_LOOK_MILLIS = 200
#: The page with all details, which it has to draw, too.
ALL_DETAILS = """localStorage.setItem("schedviz", '{"internals": true}')"""
#: A message that is sent on the frame in which the page has changed is read once that frame was laid out and painted.
_WATCH = """
globalThis.drawnEvents = [];
const begin = () => {
  const shown = document.querySelector("[data-event]");
  if (!shown) return void setTimeout(begin, 50);
  let isWaiting = false;
  new MutationObserver(() => {
    if (isWaiting) return;
    isWaiting = true;
    const painted = new MessageChannel();
    let event = 0;
    painted.port1.onmessage = () => {
      drawnEvents.push([event, performance.timeOrigin + performance.now()]);
      isWaiting = false;
      painted.port1.close();
    };
    requestAnimationFrame(() => { event = Number(shown.dataset.event); painted.port2.postMessage(0); });
  }).observe(shown, { attributeFilter: ["data-event"] });
};
begin();
"""


class DrawnPage:
    """The page of one session. Use as a context manager, from any thread."""

    def __init__(self, address: str, session: str, *, data: Path | None, chromium: str) -> None:
        """`data`: the folder of the `schedviz up` at this address, which gives a login link; None: the default one."""
        self._address, self._session, self._data, self._chromium = address, session, data, chromium
        self._ready, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None
        #: Event numbers and the time (seconds since 1970) at which the page was painted with each; both increase.
        self.events: list[int] = []
        self.times: list[float] = []

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def drawn_at(self, event: int) -> float | None:
        """When the page was painted with this event or a later one; None: it was not. Valid after the `with`."""
        place = bisect_left(self.events, event)
        return self.times[place] if place < len(self.times) else None

    def _run(self) -> None:
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=self._chromium, args=list(_FLAGS))
                page = browser.new_context(viewport=_WINDOW).new_page()
                page.goto(self._login_link())
                page.add_init_script(ALL_DETAILS)
                page.add_init_script(_WATCH)
                page.goto(f"{self._address}/s/{self._session}/")
                page.wait_for_function("() => globalThis.drawnEvents && document.querySelector('[data-event]')", timeout=60_000)
                self._ready.set()
                while not self._stop.is_set():
                    page.wait_for_timeout(_LOOK_MILLIS)
                for event, millis in page.evaluate("drawnEvents"):
                    if not self.events or event > self.events[-1]:
                        self.events.append(event)
                        self.times.append(millis / 1000)
                browser.close()
        except Exception as error:  # noqa: BLE001 -- the edge of a thread; `__enter__` raises it.
            self._error = error
        finally:
            self._ready.set()

    def _login_link(self) -> str:
        data = [] if self._data is None else ["--data", str(self._data)]
        command = [sys.executable, "-m", "schedviz.cli.main", "login", *data]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return re.findall(r"http://\S+/login/\?once=\S+", said)[-1]
