"""The web server's process: uvicorn on a socket of the supervisor. `python -m schedviz.up.web_server DESCRIPTOR [CERT KEY]`.

It loads immediately, and serves once it reads a line from its input, because before that the tables may not exist.
"""

from __future__ import annotations

import socket
import sys

import uvicorn
from django.conf import settings

from schedviz.web.server.head_limit import HeadLimit


def main(descriptor: int, certificate: str | None = None, key: str | None = None) -> None:
    """Serve until SIGTERM, over TLS with a certificate. Open WebSockets are closed with a code that tells clients to reconnect."""
    config = configuration(certificate, key)
    config.load()
    if not sys.stdin.readline():
        # The supervisor has ended.
        return
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def configuration(certificate: str | None = None, key: str | None = None) -> uvicorn.Config:
    """uvicorn's configuration. The image and the systemd unit have the same options on their command lines."""
    return uvicorn.Config(
        "schedviz.asgi:application",
        http=HeadLimit,
        ws="websockets-sansio",
        ws_max_size=settings.SOCKET_MESSAGE_BYTES,
        # Frames are compressed once for all viewers. A window per viewer would cost memory and allow decompression bombs.
        ws_per_message_deflate=False,
        lifespan="off",
        # Our settings define the handler and the format; uvicorn's lines are INFO.
        log_config=None,
        log_level="info",
        access_log=False,
        # Our code reads X-Forwarded-For according to SCHEDVIZ_PROXIES; uvicorn would trust every client on 127.0.0.1.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        # Longer than clients and proxies keep idle connections (5 to 60 s), so that no request meets a closing connection.
        timeout_keep_alive=75,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
