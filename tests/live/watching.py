"""Watches a session as the page does, and notes when each pod of a namespace was first in a frame."""

from __future__ import annotations

import re
import threading
import time
import zlib
from typing import Self

from websockets.sync.client import connect


class Viewer:
    """A viewer of one session. Use as a context manager."""

    def __init__(self, server: str, session: str, token: str, namespace: str) -> None:
        self._url = f"{server.replace('http', 'ws', 1)}/ws/v1/sessions/{session}/"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._pods = re.compile(rf'"{re.escape(namespace)}/([^"]+)"')
        self._stop = threading.Event()
        self._ready = threading.Event()
        #: When a pod was first in a frame.
        self.seen: dict[str, float] = {}

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def _run(self) -> None:
        with connect(self._url, additional_headers=self._headers, max_size=None, compression=None) as socket:
            for message in socket:
                if self._stop.is_set():
                    return
                self._ready.set()
                if isinstance(message, bytes):
                    text = zlib.decompress(message).decode()
                    now = time.monotonic()
                    for name in self._pods.findall(text):
                        self.seen.setdefault(name, now)
