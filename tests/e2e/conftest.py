"""A running `schedviz up`, and Chromium."""

from __future__ import annotations

import json
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.conftest import missing
from tests.e2e.cluster import dump
from tests.up.running import Running, starter

MANIFEST = Path(__file__).resolve().parents[2] / "schedviz/web/static/app/.vite/manifest.json"

#: The headless shell comes first: without windows, a page costs it half the CPU time.
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")

FLAGS = [
    "--no-sandbox",  # CI runs as root.
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Server:
    """A running schedviz: its URL, and its REST API with the token of the machine."""

    def __init__(self, running: Running, data: Path) -> None:
        self.running = running
        self.data = data
        self.url = running.address()

    @property
    def login(self) -> str:
        return self.running.login_link()

    def rest(self, path: str, body: object = None, *, wait: int = 0) -> Any:
        """`wait`: for how many seconds the server may wait until the work is done."""
        token = (self.data / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if wait:
            headers["Prefer"] = f"wait={wait}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", headers=headers, data=data)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A dump of a small cluster, as kubectl prints it."""
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(dump()))
    return file


@pytest.fixture(scope="session")
def chromium() -> str:
    if not MANIFEST.exists():
        missing("The built front end", "Run `make setup`.")
    return next(filter(None, map(shutil.which, BROWSERS)), None) or missing(
        "Chromium", "On Debian: apt-get install chromium-headless-shell."
    )


@pytest.fixture(scope="session")
def server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("e2e")
    data = folder / "data"
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--port", "0", "--data", str(data), "--no-open"]
    for start in starter(folder, lambda _: command):
        yield Server(start(), data)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        yield launched
        launched.close()


#: What a browser stores whose user wants all details and has seen the tour.
EXPERT = """
try {
  localStorage.setItem("schedviz.tour", "done");
  localStorage.setItem("schedviz", localStorage.getItem("schedviz") ?? JSON.stringify({ internals: true }));
} catch {}
"""

#: Makes the page that is opened next the first that a browser shows.
FORGET_PREFERENCES = """localStorage.setItem("schedviz", "{}")"""

#: Runs before each page of a tab; `window.name` lasts as long as the tab.
_FORGET_PANELS = """
if (window.name !== "tested" && window.top === window) {
  window.name = "tested";
  try {
    const { theme } = JSON.parse(localStorage.getItem("schedviz") ?? "{}");
    localStorage.setItem("schedviz", JSON.stringify({ theme, internals: true }));
  } catch {}
}
"""


@pytest.fixture(scope="session")
def signed_in(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """A browser context that is logged in through the link from the terminal."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.add_init_script(EXPERT)
    page = context.new_page()
    page.goto(server.login)
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    """A page. Fails the test on a script error or a violation of the content security policy."""
    # What earlier tests chose in panels is not remembered, nor a language: a test that fails in Chinese would fail all that follow.
    signed_in.clear_cookies(name="schedviz_language")
    page = signed_in.new_page()
    page.add_init_script(_FORGET_PANELS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
    yield page
    page.close()
    assert complaints == []
