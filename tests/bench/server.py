"""A separate `schedviz up`, and a client that is logged in."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tests.bench.report import Figure


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Server:
    """A running server; a context manager that starts and stops it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._started = 0.0
        self._first_page = 0.0
        self._healthy = 0.0

    @classmethod
    def run_once(cls, data: Path) -> None:
        """Start and stop, so that the database exists."""
        with cls(data):
            pass

    def __enter__(self) -> Self:
        command = [Path(sys.executable).with_name("schedviz"), "up", "--port", str(self.port), "--data", str(self.data), "--no-open"]
        begin = time.perf_counter()
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._first_page = self._wait_for("/login/", {200}) - begin
        self._healthy = self._wait_for("/healthz", {200}) - begin
        token = (self.data / "token").read_text("utf-8").strip()
        self.client = httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self.token = token
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.client.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait(20)

    @property
    def pid(self) -> int:
        """The process id of the supervisor."""
        return self._process.pid

    def _wait_for(self, path: str, wanted: set[int]) -> float:
        deadline = time.perf_counter() + 60
        while time.perf_counter() < deadline:
            try:
                if httpx.get(self.url + path).status_code in wanted:
                    return time.perf_counter()
            except httpx.TransportError:
                pass
            time.sleep(0.02)
        raise TimeoutError(f"{path} never answered {wanted}")

    def start_up(self) -> list[Figure]:
        return [
            Figure("`schedviz up` with an existing data folder: first response of a page", f"{self._first_page:.1f} s", "< 5 s"),
            Figure("`schedviz up` with an existing data folder: /healthz returns 200", f"{self._healthy:.1f} s", ""),
        ]

    def create(self, **kwargs: Any) -> tuple[str, float]:
        """Create a session and wait until it is ready. Returns its id and the seconds that this took."""
        begin = time.perf_counter()
        made = self.client.post("/api/v1/sessions/", **kwargs)
        made.raise_for_status()
        session = made.json()["id"]
        while True:
            state = self.client.get(f"/api/v1/sessions/{session}/").json()
            if state["status"] == "failed":
                raise RuntimeError(json.dumps(state))
            if state["status"] != "importing":
                return session, time.perf_counter() - begin
            time.sleep(0.02)
