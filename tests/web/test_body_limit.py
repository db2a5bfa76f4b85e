"""Bodies that are too large are refused before they are read, by the real server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest
from django.conf import settings

pytestmark = pytest.mark.django_db(transaction=True)


def ask(web_server, people, body: bytes | Iterator[bytes], **headers: str) -> tuple[int, dict]:
    connection = http.client.HTTPConnection(web_server.netloc, timeout=10)
    authorization = people.client("owner-token")._credentials["HTTP_AUTHORIZATION"]
    connection.request("POST", "/api/v1/sessions/", body, {"Authorization": authorization, "Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def test_a_body_that_says_it_is_too_large_is_not_read(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)

    status, body = ask(web_server, people, b" " * 2000)

    assert status == 413
    assert "SCHEDVIZ_BODY_BYTES" in body["error"]["message"]


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)

    status, body = ask(web_server, people, iter([b" " * 600, b" " * 600]))

    assert status == 413
    assert body["error"]["code"] == "too_large"


def test_files_have_a_limit_of_their_own(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)
    monkeypatch.setattr(settings, "UPLOAD_BYTES", 3000)
    boundary = {"Content-Type": "multipart/form-data; boundary=x"}
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n'

    assert ask(web_server, people, part + b"a" * 2000 + b"\r\n--x--\r\n", **boundary)[0] == 201
    assert ask(web_server, people, part + b"a" * 4000 + b"\r\n--x--\r\n", **boundary)[0] == 413
    assert ask(web_server, people, part + b"a" * 4_000_000 + b"\r\n--x--\r\n", **boundary)[0] == 413
