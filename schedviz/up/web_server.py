"""The web server's process: uvicorn on a socket that the supervisor holds. `python -m schedviz.up.web_server DESCRIPTOR [CERT KEY]`.

It loads, and serves when it reads a line from its input: before that there may be no tables.
"""

from __future__ import annotations

import socket
import sys

import uvicorn

from schedviz.web.head_limit import HeadLimit

#: Commands are small; whoever sends more is cut off before anything is read.
LARGEST_MESSAGE_BYTES = 64 * 1024


def main(descriptor: int, certificate: str | None = None, key: str | None = None) -> None:
    """Serve until SIGTERM, with a certificate over TLS; open WebSockets are told to come back and given a moment to hear it."""
    config = uvicorn.Config(
        "schedviz.asgi:application",
        http=HeadLimit,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE_BYTES,
        # Frames are compressed once for all viewers; a window for each viewer would cost memory and let an inflate bomb in.
        ws_per_message_deflate=False,
        lifespan="off",
        # The handler and the format are those of our settings; uvicorn's lines are INFO.
        log_config=None,
        log_level="info",
        access_log=False,
        # Ours reads X-Forwarded-For as far as SCHEDVIZ_PROXIES says; uvicorn would believe whoever comes from 127.0.0.1.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        # Longer than clients and proxies keep a connection that nobody uses (5 to 60 s): none sends a request into one that closes.
        timeout_keep_alive=75,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    config.load()
    if not sys.stdin.readline():
        # Whoever was to say it has gone.
        return
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
