"""A scheduler extender over HTTP, with responses that a test sets and a record of its requests."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], Any]


class ExtenderServer:
    """`answers`: verb → function from the arguments to the response body (bytes are sent unchanged). `statuses`: verb → status, if not 200."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.statuses: dict[str, int] = {}
        self.drip_seconds = 0.0
        self.requests: list[tuple[str, dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                verb = self.path.removeprefix("/scheduler/")
                args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((verb, args))
                answer = outer.answers[verb](args)
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(outer.statuses.get(verb, 200))
                self.send_header("Location", f"http://{outer.host}/scheduler/elsewhere")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self._send(body)

            def _send(self, body: bytes) -> None:
                if not outer.drip_seconds:
                    self.wfile.write(body)
                    return
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(outer.drip_seconds)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/scheduler"

    def config(self, **members: Any) -> dict[str, Any]:
        """A scheduler configuration with this extender."""
        extender = {"urlPrefix": self.url, **members}
        return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": [extender]}

    @contextlib.contextmanager
    def running(self) -> Iterator[ExtenderServer]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
