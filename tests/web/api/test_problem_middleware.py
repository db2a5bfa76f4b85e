"""Every refusal under /api/ and /ws/ is a problem with the right status: for every method and every kind of URL."""

from __future__ import annotations

import json
import socket

import pytest
from django.test import Client

from tests.web.conftest import LiveServer, People

pytestmark = pytest.mark.django_db(transaction=True)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
SESSION = "/api/v1/sessions/00000000-0000-4000-8000-000000000000"
#: Addresses that do not exist, and one that lacks its last slash.
NOWHERE = [
    "/api", "/api/", "/api/v1", "/api/v2/", "/api/nonsense", "/api/v1/nonsense", "/api/v1/nonsense/", "/api/v1/sessions", SESSION,
    "/api/v1/sessions/%00/", "/api/v1/%0A/", "/api/v1/%FF%FE/", "/api/v1/a%0D%0Ab", "/api/v1//", "/api/v1/../", "/api/v1/" + "a" * 60_000,
]  # fmt: skip


def exchange(
    server: LiveServer, method: str, address: str, *headers: str, host: str = "127.0.0.1", body: bytes = b""
) -> tuple[int, dict, bytes]:
    """The status, headers and body of a response of the real server."""
    name, port = server.netloc.split(":")
    lines = [f"{method} {address} HTTP/1.1", f"Host: {host}", "Connection: close", f"Content-Length: {len(body)}", *headers, "", ""]
    with socket.create_connection((name, int(port)), timeout=30) as connection:
        connection.sendall("\r\n".join(lines).encode() + body)
        response = b""
        while part := connection.recv(1 << 20):
            response += part
    head, _, rest = response.partition(b"\r\n\r\n")
    first, *fields = head.decode().split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}, rest


def problem_in(response: tuple[int, dict, bytes], method: str = "GET") -> dict:
    status, headers, body = response
    assert headers["content-type"] == "application/problem+json"
    if method == "HEAD":
        return {}
    assert len(body) < 2000
    document = json.loads(body)
    assert document["status"] == status
    return document


def test_an_unknown_path_gets_404_for_every_method(web_server: LiveServer) -> None:
    for address in NOWHERE:
        for method in METHODS:
            response = exchange(web_server, method, address)

            assert response[0] == 404, (method, address)
            result = problem_in(response, method)
            if result and not address.endswith("/"):
                assert result["hint"].startswith("Addresses end with a slash: /api")


def test_a_websocket_path_gets_426_for_every_method(web_server: LiveServer) -> None:
    for address in ("/ws", "/ws/", "/ws/v1/sessions/00000000-0000-4000-8000-000000000000/", "/ws/nonsense"):
        for method in METHODS:
            response = exchange(web_server, method, address)

            assert response[0] == 426, (method, address)
            assert response[1]["upgrade"] == "websocket"
            problem_in(response, method)


@pytest.mark.parametrize(
    "address", ["/api/v1/", "/api/v1/docs/", "/api/v1/schema/", "/api/v1/problems/", "/api/v1/sessions/", f"{SESSION}/"]
)
def test_an_unsupported_method_gets_405_with_the_supported_ones(web_server: LiveServer, people: People, address: str) -> None:
    for method in ("PUT", "TRACE", "PROPFIND"):
        response = exchange(web_server, method, address)

        assert response[0] == 405
        assert "GET" in response[1]["allow"]
        assert problem_in(response)["code"] == "method_not_allowed"


def test_a_wrong_host_gets_400(web_server: LiveServer) -> None:
    for address in ("/api/v1/problems/", "/api/nonsense", "/ws/"):
        result = problem_in(exchange(web_server, "GET", address, host="evil.example"))

        assert (result["status"], result["code"], result["path"]) == (400, "wrong_host", "Host")


def test_a_malformed_request_gets_400(web_server: LiveServer) -> None:
    for method, address in (
        ("NONSENSE", "/api/v1/"),
        ("GET", "/api/v1/\N{LATIN SMALL LETTER E WITH ACUTE}/"),
        ("GET", "/api/v1/" + "a" * 70_000),
    ):
        assert problem_in(exchange(web_server, method, address))["status"] == 400


def test_a_body_that_is_too_large_gets_413(web_server: LiveServer, settings) -> None:
    settings.BODY_BYTES = 100

    for address in ("/api/v1/sessions/", "/api/nonsense"):
        response = exchange(web_server, "POST", address, "Content-Type: application/json", body=b" " * 200)

        assert problem_in(response)["code"] == "too_large"


def test_a_request_without_the_csrf_token_gets_403(people: People) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(people.owner)

    response = browser.post("/api/v1/sessions/", {"generate": {"nodes": 1}}, content_type="application/json")

    assert response.status_code == 403
    assert response["Content-Type"] == "application/problem+json"
    assert "CSRF" in response.json()["detail"]
    assert browser.post("/api/v1/nonsense", {}, content_type="application/json").status_code == 404


def test_an_error_outside_of_the_views_gets_500(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("django.contrib.auth.middleware.AuthenticationMiddleware.process_request", broken)
    client = Client(raise_request_exception=False)

    response = client.get("/api/v1/problems/")

    assert response.status_code == 500
    assert response.json()["code"] == "internal"
    assert b"secret" not in response.content
    assert response["X-Content-Type-Options"] == "nosniff"
