"""A Redis substitute for systems without one: fakeredis' server on a Unix socket. `python -m schedviz.up.fake_redis SOCKET`."""

from __future__ import annotations

import itertools
import signal
import socket
import sys
import types

from fakeredis import TcpFakeServer


class UnixFakeServer(TcpFakeServer):
    """Identifies clients by number, because Unix sockets have no client addresses."""

    address_family = socket.AF_UNIX
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str) -> None:
        self._numbers = itertools.count(1)
        super().__init__(path)  # type: ignore[arg-type]
        self.daemon_threads = True

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, _ = self.socket.accept()
        return connection, ("unix", next(self._numbers))


def _exit(_number: int, _frame: types.FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _exit)
    UnixFakeServer(sys.argv[1]).serve_forever(poll_interval=0.1)
