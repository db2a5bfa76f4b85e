"""A real server with clusters of every size, and a browser for reproducible screenshots."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, Page

from tests.e2e.cluster import node, pod
from tests.e2e.conftest import EXPERT, Server
from tests.pictures.shots import HEIGHTS, Cluster, Shot
from tests.pictures.still import STYLE

_LATENCY_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 240


class Studio:
    """The sessions of a server, created on first use, and the pages of a browser."""

    def __init__(self, server: Server, browser: Browser, signed_in: BrowserContext) -> None:
        self._server = server
        self._browser = browser
        # Without its preferences: a language that was chosen once would apply to all pictures.
        cookies = [cookie for cookie in signed_in.cookies() if cookie.get("name") not in {"schedviz_language", "schedviz_theme"}]
        self._login: Any = {"cookies": cookies, "origins": []}
        self._made: dict[Cluster, str] = {}
        self._contexts: dict[tuple[int, str, str], BrowserContext] = {}

    def close(self) -> None:
        for context in self._contexts.values():
            context.close()

    @contextmanager
    def open(self, shot: Shot, *, still: bool = False) -> Iterator[Page]:
        """Open the page of a picture. `still`: hide what differs in each run, for comparison."""
        session = self.session(shot.cluster)
        page = self._context(shot).new_page()
        page.goto(self._server.url + shot.view.address.format(id=session))
        if still:
            page.add_style_tag(content=STYLE)
        shot.view.prepare(page)
        yield page
        page.close()

    def session(self, cluster: Cluster) -> str:
        """The id of a session with some history."""
        if cluster not in self._made:
            self._made[cluster] = self._make(cluster)
        return self._made[cluster]

    def _context(self, shot: Shot) -> BrowserContext:
        key = (shot.width, shot.scheme, shot.language)
        if key not in self._contexts:
            context = self._browser.new_context(
                viewport={"width": shot.width, "height": HEIGHTS[shot.width]},
                color_scheme=shot.scheme,
                locale=shot.language,
                timezone_id="UTC",
                reduced_motion="reduce",
                storage_state=self._login,
                bypass_csp=True,
            )
            # Settings of one picture, such as the table view, must not affect the next.
            context.add_init_script("localStorage.removeItem('schedviz')")
            context.add_init_script(EXPERT)
            self._contexts[key] = context
        return self._contexts[key]

    def _make(self, cluster: Cluster) -> str:
        generated = {
            "four": {"shape": "demo"},
            "midway": {"shape": "demo"},
            "middle": {"shape": "mixed", "nodes": 200, "pods": 800},
            "large": {"shape": "mixed", "nodes": 5000, "pods": 6000},
        }
        if cluster in generated:
            session = self._server.rest("sessions/", {"generate": generated[cluster], "name": NAMES[cluster]})["id"]
        else:
            steps = [{"op": "create", "object": one} for one in _OBJECTS[cluster]()]
            trace = {"format": "schedviz-trace/1", "name": NAMES[cluster], "steps": steps}
            session = self._server.rest("sessions/", {"trace": trace, "name": NAMES[cluster]})["id"]
        self._until(session, lambda state: state["status"] != "importing")
        cycles = {"none": 3, "four": 6, "midway": 5, "middle": 150, "large": 60, "crowded": 1}[cluster]
        self._do(session, {"op": "run", "max": cycles}, {"op": "latency", "kind": "Pod", "seconds": _LATENCY_SECONDS})
        if cluster in {"four", "midway"}:
            self._do(session, {"op": "step", "unit": "cycle"}, {"op": "step", "unit": "cycle"})
        return str(session)

    def _do(self, session: str, *commands: dict[str, Any]) -> None:
        for command in commands:
            accepted = self._server.rest(
                f"sessions/{session}/commands/", {"key": json.dumps([session, command, time.monotonic()]), **command}
            )
            self._until(session, lambda state, seq=accepted["seq"]: state["appliedSeq"] >= seq and state["status"] != "running")

    def _until(self, session: str, is_so: Any) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while not is_so(self._server.rest(f"sessions/{session}/")):
            if time.monotonic() > until:
                raise TimeoutError(f"session {session} is not ready")
            time.sleep(0.2)


NAMES: Final = {
    "none": "No node at all",
    "four": "A first look: four nodes",
    "midway": "A first look: four nodes",
    "middle": "Two hundred nodes",
    "large": "Five thousand nodes",
    "crowded": "Somebody has to go",
}


def _none() -> list[dict[str, Any]]:
    return [pod(f"web-{number}", "500m") for number in range(1, 6)]


def _crowded() -> list[dict[str, Any]]:
    """Three nodes full of pods of low priority, and a pod of higher priority."""
    nodes = [node(f"node-{number}", "zone-a", "4") for number in (1, 2, 3)]
    placed = [
        pod(f"batch-{number}-{place}", "1", nodeName=f"node-{number}", priority=10 * place + number)
        for number in (1, 2, 3)
        for place in range(4)
    ]
    return [*nodes, *placed, pod("urgent", "2", priority=1000)]


_OBJECTS: Final = {"none": _none, "crowded": _crowded}
