"""Watches a session as the page does, and notes when each pod of a namespace was first in a frame."""

from __future__ import annotations

import re
import threading
import time
import zlib
from contextlib import suppress
from typing import Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Viewer:
    """A viewer of one session. Use as a context manager."""

    def __init__(self, server: str, session: str, token: str, namespace: str) -> None:
        self._url = f"{server.replace('http', 'ws', 1)}/ws/v1/sessions/{session}/"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._pods = re.compile(rf'"{re.escape(namespace)}/([^"]+)"')
        self._events = re.compile(r'"event":(\d+)')
        self._stop = threading.Event()
        self._ready = threading.Event()
        #: When a pod was first in a frame, in seconds since 1970.
        self.seen: dict[str, float] = {}
        #: The last event of that frame.
        self.events: dict[str, int] = {}

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def _run(self) -> None:
        with connect(self._url, additional_headers=self._headers, max_size=None, compression=None) as socket, suppress(ConnectionClosed):
            for message in socket:
                if self._stop.is_set():
                    return
                self._ready.set()
                if isinstance(message, bytes):
                    text = zlib.decompress(message).decode()
                    now = time.time()
                    names = [name for name in self._pods.findall(text) if name not in self.seen]
                    if names:
                        last = max(map(int, self._events.findall(text)), default=0)
                        self.seen |= dict.fromkeys(names, now)
                        self.events |= dict.fromkeys(names, last)
