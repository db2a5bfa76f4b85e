"""URLs of WebSockets. Behind Channels' routing are plain ASGI applications instead of consumers (docs/decisions/0015)."""

from __future__ import annotations

from channels.routing import URLRouter
from django.urls import path, re_path

from schedviz.web.live.connection import Receive, Scope, Send, accept_socket
from schedviz.web.live.handshake import Refused
from schedviz.web.live.socket import session_socket
from schedviz.web.rooms.live.socket import room_socket


async def _no_such_address(scope: Scope, receive: Receive, send: Send) -> None:
    await accept_socket(scope, receive, send, _refuse)


async def _refuse() -> None:
    raise Refused(404, "There is no WebSocket at this address.")


sockets = URLRouter(
    [
        path("ws/v1/sessions/<uuid:session_id>/", session_socket),  # type: ignore[arg-type]
        path("ws/v1/rooms/<uuid:room_id>/", room_socket),  # type: ignore[arg-type]
        re_path(r"^", _no_such_address),  # type: ignore[arg-type]
    ]
)
