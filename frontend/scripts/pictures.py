"""Takes the pictures of the README, `docs/pictures/scope.png` and `scope-light.png`, of the demo cluster on a server that runs.

    python -m frontend.scripts.pictures LOGIN_LINK TOKEN_FILE

Start `schedviz up --no-open` and give the link that it prints. Watches are slowed down, so that pods are assumed and events in flight.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parents[2] / "docs/pictures"
LATENCY_SECONDS = 2.0
CYCLES = 5
PATIENCE_SECONDS = 30


class Server:
    """REST of a server, with its token."""

    def __init__(self, base: str, token: str) -> None:
        self.base = base
        self.token = token

    def ask(self, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Prefer": "wait=10"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}/api/v1/{path}", headers=headers, data=data)  # noqa: S310  (a server of one's own)
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:  # noqa: S310
            return json.load(response)

    def demo_midway(self) -> str:
        """The id of a demo session in which bindings are done and their watch events are still in flight."""
        session: str = self.ask("sessions/", {"generate": {"shape": "demo"}, "name": "A first look: four nodes"})["id"]
        until = time.monotonic() + PATIENCE_SECONDS
        while self.ask(f"sessions/{session}/")["status"] == "importing" and time.monotonic() < until:
            time.sleep(0.2)
        commands: list[dict[str, Any]] = [{"op": "run", "max": CYCLES}, {"op": "latency", "kind": "Pod", "seconds": LATENCY_SECONDS}]
        commands += [{"op": "step", "unit": "cycle"}] * 2
        for number, command in enumerate(commands):
            self.ask(f"sessions/{session}/commands/", {"key": f"picture-{number}", **command})
        return session


def main(link: str, token_file: str) -> int:
    """Write both pictures."""
    address = urlsplit(link)
    server = Server(f"{address.scheme}://{address.netloc}", Path(token_file).read_text().strip())
    session = server.demo_midway()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        page = context.new_page()
        page.goto(link)
        for name, scheme in (("scope.png", "dark"), ("scope-light.png", "light")):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.goto(f"{server.base}/s/{session}/")
            page.locator("[data-cycle]").wait_for()
            page.wait_for_timeout(1_500)
            page.screenshot(path=FOLDER / name)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
