"""URLs of WebSockets. Behind Channels' routing are plain ASGI applications instead of consumers (docs/decisions/0015)."""

from __future__ import annotations

from channels.routing import URLRouter
from django.urls import path, re_path

from schedviz.web.live.connection import Receive, Scope, Send
from schedviz.web.live.socket import session_socket
from schedviz.web.rooms.live.socket import room_socket


async def _no_such_address(_scope: Scope, receive: Receive, send: Send) -> None:
    if (await receive())["type"] == "websocket.connect":
        await send({"type": "websocket.close", "code": 4404})


sockets = URLRouter(
    [
        path("ws/v1/sessions/<uuid:session_id>/", session_socket),  # type: ignore[arg-type]
        path("ws/v1/rooms/<uuid:room_id>/", room_socket),  # type: ignore[arg-type]
        re_path(r"^", _no_such_address),  # type: ignore[arg-type]
    ]
)
