"""The web server's log in every documented deployment: no secrets of URLs, JSON, one line for a refused handshake."""

from __future__ import annotations

import contextlib
import socket
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.conftest import RedisServer
from tests.deploy.documented_web import DocumentedWeb, Prepared

#: Invalid secrets; a log would show valid ones in the same way.
FOREIGN = {"code": "an-authorization-code", "state": "a-state-of-openid-connect", "wrong": "a-share-link-of-elsewhere"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, redis_server: RedisServer) -> Prepared:
    return Prepared(tmp_path_factory.mktemp("web"), redis_server.url)


def handshake(netloc: str, path: str, **options: object) -> int:
    """The status of the response to a WebSocket handshake."""
    try:
        with connect(f"ws://{netloc}{path}", **options):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def raw(netloc: str, data: bytes) -> bytes:
    """The first response to these bytes."""
    host, port = netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(data)
        with contextlib.suppress(ConnectionResetError):
            return connection.recv(65536)
    return b""


def not_a_websocket(netloc: str, query: str) -> bytes:
    """An upgrade without a key."""
    head = f"GET /ws/v1/sessions/{uuid4()}/{query} HTTP/1.1\r\nHost: {netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    return raw(netloc, head.encode())


def come_with_every_secret(netloc: str, made: dict[str, str]) -> None:
    """Send each secret in every place of a URL, to endpoints that accept and that refuse it."""
    session, link = made["session"], made["link"]
    assert handshake(netloc, f"/ws/v1/sessions/{session}/?link={link}") == 101
    assert handshake(netloc, f"/ws/v1/sessions/{session}/?from=0&%6Cink={link}") == 101
    assert handshake(netloc, f"/ws/v1/sessions/{session}/", subprotocols=["v1.schedviz", f"link.schedviz.{link}"]) == 101
    assert handshake(netloc, f"/ws/v1/sessions/{session}/", additional_headers={"Authorization": f"Bearer {made['token']}"}) == 101
    assert handshake(netloc, f"/ws/v1/sessions/{session}/?link={FOREIGN['wrong']}") == 404
    assert handshake(netloc, f"/ws/v1/sessions/{uuid4()}/?link={link}") == 404
    assert handshake(netloc, f"/ws/v1/rooms/{uuid4()}/?link={link}") == 404
    assert handshake(netloc, f"/ws/nowhere/?link={link}") == 404
    assert not_a_websocket(netloc, f"?link={link}").startswith(b"HTTP/1.1 4")
    assert raw(netloc, f"GET /s/{session}/?link={link} HTTP/1.1\r\nno header\r\n\r\n".encode()).startswith(b"HTTP/1.1 400")
    with httpx.Client(base_url=f"http://{netloc}", headers={"Authorization": f"Bearer {made['token']}"}) as script:
        assert script.get(f"/api/v1/sessions/{session}/?token={made['token']}").status_code == 400
    with httpx.Client(base_url=f"http://{netloc}") as browser:
        assert browser.get(f"/embed/{session}/queue/?link={link}").status_code == 200
        assert browser.get(f'/s/{session}/?x="&link={link}').status_code == 302
        assert browser.get(f"/login/?next=/s/{session}/%3Flink%3D{link}").status_code == 200
        assert browser.get(f"/invite/{made['invite']}/").status_code == 200
        assert browser.post(f"/invite/{made['invite']}/").status_code == 403, "there is no CSRF token"
        assert browser.get(f"/r/{made['room']}/").status_code == 200
        assert browser.get(f"/oidc/callback/?code={FOREIGN['code']}&state={FOREIGN['state']}").status_code == 404
        assert browser.get(f"/login/?once={made['once']}").status_code in (302, 403), "each server is shown it; the first takes it"
        assert browser.get(f"/login/?once={FOREIGN['wrong']}").status_code in (302, 403)


@pytest.mark.parametrize(
    ("where", "options"),
    [
        ("image", ()),
        ("systemd", ("--access-log",)),
        ("plain", ("--ws", "websockets")),
        ("plain", ("--log-level", "trace")),
    ],
    ids=["image", "systemd-with-access-log", "plain-uvicorn", "plain-uvicorn-trace"],
)
def test_no_secret_of_a_url_is_logged(prepared: Prepared, where: str, options: tuple[str, ...]) -> None:
    with DocumentedWeb(prepared, where, *options, drop=("--no-access-log",) if "--access-log" in options else ()) as web:
        come_with_every_secret(web.netloc, prepared.made)

    secrets = {**prepared.made, **FOREIGN}
    del secrets["session"]
    assert [name for name, secret in secrets.items() if secret in web.written] == []
    assert prepared.made["session"] in web.written, "URLs are logged without their queries"
    if where == "plain" or options:
        assert f"/embed/{prepared.made['session']}/queue/?[redacted]" in web.written, "the access log is on"


@pytest.mark.parametrize("where", ["image", "up"])
def test_every_line_is_json_and_a_refused_handshake_is_logged_at_info(prepared: Prepared, where: str) -> None:
    with DocumentedWeb(prepared, where) as web:
        before = len(web.lines)
        session = prepared.made["session"]
        assert handshake(web.netloc, f"/ws/v1/sessions/{session}/?link={FOREIGN['wrong']}") == 404
        assert handshake(web.netloc, f"/ws/v1/sessions/{session}/") == 403
        assert handshake(web.netloc, f"/ws/v1/sessions/{session}/", additional_headers={"Authorization": "Basic eDp5"}) == 401
        assert handshake(web.netloc, "/ws/nowhere/") == 404
        assert not_a_websocket(web.netloc, "").startswith(b"HTTP/1.1 400")
        refused = web.lines[before:]

    assert [line["level"] for line in refused] == ["info"] * 5
    assert all(line["logger"] == "uvicorn.error" and line["timestamp"] for line in web.lines), "the log must contain the start and the stop"
    assert [line["event"].rpartition(" ")[2] for line in refused[:4]] == ["404", "403", "401", "404"]
