"""A viewer of a session that reconnects whenever its socket breaks."""

from __future__ import annotations

import json
import threading
import zlib

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.faults.client import Client


class Viewer(threading.Thread):
    """Follows a session as docs/wire.md describes, and keeps the number of the last complete chunk."""

    def __init__(self, client: Client, session_id: str, stopped: threading.Event) -> None:
        super().__init__(name=f"viewer of {session_id}", daemon=True)
        self.chunk = -1
        self.event = -1
        #: The violation that was found, if any.
        self.trouble = ""
        self._url = f"ws://{client.host}:{client.port}/ws/v1/sessions/{session_id}/"
        self._headers = {"Authorization": f"Bearer {client.token}"}
        self._stopped = stopped

    def run(self) -> None:
        """Follow until stopped."""
        while not self._stopped.is_set():
            query = f"?from={self.chunk}" if self.chunk >= 0 else ""
            try:
                with connect(self._url + query, additional_headers=self._headers, max_size=None) as socket:
                    while not self._stopped.is_set():
                        try:
                            data = socket.recv(timeout=0.5)
                        except TimeoutError:
                            continue
                        self._take(json.loads(zlib.decompress(data) if isinstance(data, bytes) else data))
            except (OSError, WebSocketException):
                self._stopped.wait(0.1)

    def _take(self, message: dict) -> None:
        if message["type"] == "frame":
            if message["firstChunk"] != self.chunk + 1:
                self.trouble = f"a frame that begins with chunk {message['firstChunk']} came after chunk {self.chunk}, and no gap was told"
        elif message["type"] != "view":
            return
        self.chunk, self.event = message["chunk"], message["event"]
