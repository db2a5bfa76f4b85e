"""Bodies that are too large, anonymous or too many are refused before they are stored, by the real server."""

from __future__ import annotations

import errno
import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User

from schedviz.ingest.files.spool import Spool, _EncryptedFile
from schedviz.sessions import senders
from schedviz.web.api.parsing import JsonParser
from schedviz.web.auth.actors import Actor
from schedviz.web.server import body_limit
from tests.conftest import until

pytestmark = pytest.mark.django_db(transaction=True)


def ask(web_server, people, body: bytes | Iterator[bytes], path: str = "/api/v1/sessions/", **headers: str) -> tuple[int, dict]:
    connection = http.client.HTTPConnection(web_server.netloc, timeout=10)
    authorization = people.client("owner-token")._credentials["HTTP_AUTHORIZATION"]
    connection.request("POST", path, body, {"Authorization": authorization, "Content-Type": "application/json", **headers})
    response = connection.getresponse()
    found = response.status, json.loads(response.read())
    connection.close()
    return found


def test_a_body_whose_announced_length_is_too_large_is_not_read(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)

    status, body = ask(web_server, people, b" " * 2000)

    assert status == 413
    assert "SCHEDVIZ_BODY_BYTES" in body["error"]["message"]


def test_a_body_without_a_length_is_cut_off_at_the_limit(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)

    status, body = ask(web_server, people, iter([b" " * 600, b" " * 600]))

    assert status == 413
    assert body["error"]["code"] == "too_large"


FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def test_files_have_their_own_limit(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)
    monkeypatch.setattr(settings, "UPLOAD_BYTES", 3000)
    boundary = {"Content-Type": "multipart/form-data; boundary=x"}
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n'

    assert ask(web_server, people, part + b"a" * 2000 + b"\r\n--x--\r\n", **boundary)[0] == 201
    assert ask(web_server, people, part + b"a" * 4000 + b"\r\n--x--\r\n", **boundary)[0] == 413
    assert ask(web_server, people, part + b"a" * 4_000_000 + b"\r\n--x--\r\n", **boundary)[0] == 413


def test_a_body_in_chunks_counts_by_its_length_too(web_server, people, redis, monkeypatch):
    monkeypatch.setattr(settings, "QUESTIONS_PER_MINUTE", 40)
    chunks = [b'{"text": "', *[b"x" * 65_536] * 4, b'"}']

    remaining = [
        httpx.post(
            f"http://{web_server.netloc}/api/v1/explain/message/",
            content=content,
            headers={"Authorization": people.client("owner-token")._credentials["HTTP_AUTHORIZATION"], "Content-Type": "application/json"},
        ).headers["RateLimit-Remaining"]
        for content in (b"".join(chunks), iter(chunks))
    ]

    assert remaining == ["35", "30"]


def test_a_form_may_be_sent_in_chunks(web_server, people):
    form = [b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n', b"{}", b"\r\n--x--\r\n"]

    assert ask(web_server, people, iter(form), **FORM)[0] == 201


def test_only_imports_take_files(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 1000)
    monkeypatch.setattr(settings, "UPLOAD_BYTES", 3000)

    status, body = ask(web_server, people, b" " * 2000, "/api/v1/rooms/", **FORM)

    assert status == 413
    assert "SCHEDVIZ_BODY_BYTES" in body["detail"]


@pytest.mark.parametrize("says_its_length", [True, False])
@pytest.mark.parametrize("authorization", ["", "Bearer no-such-token", "Basic dTpw", "Negotiate"])
def test_a_large_body_without_credentials_is_refused_before_it_is_stored(
    web_server, people, monkeypatch, authorization: str, *, says_its_length: bool
):
    stored: list[int] = []
    monkeypatch.setattr(Spool, "write", lambda self, data: stored.append(len(data)))
    body = b" " * 500_000

    status, response = ask(web_server, people, body if says_its_length else iter([body[:100_000]] * 5), **FORM, Authorization=authorization)

    assert (status, response["code"]) == (401, "unauthenticated")
    assert "65,536 bytes" in response["detail"]
    assert sum(stored) <= body_limit.ANONYMOUS_BYTES
    assert not says_its_length or not stored


def test_a_small_body_without_credentials_reaches_the_application(web_server, people):
    assert ask(web_server, people, b"{}", Authorization="")[1]["code"] == "unauthenticated"
    assert ask(web_server, people, b"{}", "/api/v1/nowhere/", Authorization="")[0] == 404


def test_a_large_body_with_a_login_cookie_or_an_opened_link_is_accepted(web_server, people):
    for cookie in (people.client("owner-cookie").cookies, people.client("editor-link").cookies):
        sent = "; ".join(f"{name}={morsel.value}" for name, morsel in cookie.items())
        status, response = ask(web_server, people, b" " * 100_000, Authorization="Basic dTpw", Cookie=sent)
        assert (status, response.get("code")) != (401, "unauthenticated") or "65,536" not in response["detail"]


def test_an_upload_without_the_permission_to_create_sessions_is_refused_before_it_is_stored(web_server, people, monkeypatch):
    stored: list[int] = []
    monkeypatch.setattr(Spool, "write", lambda self, data: stored.append(len(data)))
    tokens = {"Authorization": people.client("owner-read-token")._credentials["HTTP_AUTHORIZATION"]}
    link = people.client("editor-link").cookies
    cookies = {"Authorization": "", "Cookie": "; ".join(f"{name}={morsel.value}" for name, morsel in link.items())}

    for headers in (tokens, cookies):
        status, response = ask(web_server, people, b" " * 500_000, **FORM, **headers)
        assert (status, response["code"]) == (403, "forbidden")
    assert not stored


def test_large_bodies_of_all_requests_share_a_limit_of_what_was_received(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "SPOOL_BYTES", 250_000)
    body = b"[" + b" " * 199_998 + b"]"
    waiting = http.client.HTTPConnection(web_server.netloc, timeout=10)
    waiting.putrequest("POST", "/api/v1/sessions/")
    waiting.putheader("Authorization", people.client("editor-token")._credentials["HTTP_AUTHORIZATION"])
    waiting.putheader("Content-Type", "application/json")
    waiting.putheader("Content-Length", "1000000")
    waiting.endheaders(b" " * 66_000)
    assert ask(web_server, people, b"[" + b" " * 99_998 + b"]")[0] == 400, "what was only announced takes no space"
    until(lambda: ask(web_server, people, body)[0] == 503)

    status, response = ask(web_server, people, body)

    assert (status, response["code"]) == (503, "busy")
    assert "SCHEDVIZ_SPOOL_BYTES" in response["detail"]
    assert ask(web_server, people, b"[" + b" " * 40_000 + b"]")[0] == 400, "small bodies do not count"
    waiting.close()
    until(lambda: ask(web_server, people, body)[0] == 400)


def test_one_sender_may_use_half_of_the_limit_or_send_one_upload(monkeypatch):
    monkeypatch.setattr(settings, "SPOOL_BYTES", 10 << 20)
    monkeypatch.setattr(settings, "UPLOAD_BYTES", 1 << 20)
    limits = body_limit.BodyLimit(None)
    limits.reserve("user 1", 5 << 20)

    with pytest.raises(body_limit._Refusal, match="half of 10,485,760"):
        limits.reserve("user 1", 1)
    limits.reserve("user 2", 5 << 20)
    with pytest.raises(body_limit._Refusal, match="of large requests; 10,485,760 are allowed"):
        limits.reserve("user 3", 1)


def test_json_bodies_that_are_processed_at_a_time_share_a_limit(web_server, people, monkeypatch):
    monkeypatch.setattr(settings, "BODY_BYTES", 200_000)
    body = b"[" + b" " * 149_998 + b"]"
    has_begun, may_end = threading.Event(), threading.Event()
    parse = JsonParser.parse

    def parse_slowly(*args):
        has_begun.set()
        may_end.wait(20)
        return parse(*args)

    # What is still being sent does not count.
    sending = http.client.HTTPConnection(web_server.netloc, timeout=10)
    sending.putrequest("POST", "/api/v1/sessions/")
    sending.putheader("Authorization", people.client("editor-token")._credentials["HTTP_AUTHORIZATION"])
    sending.putheader("Content-Type", "application/json")
    sending.putheader("Content-Length", "200000")
    sending.endheaders(b" " * 190_000)
    assert ask(web_server, people, body)[0] == 400

    with monkeypatch.context() as patched, ThreadPoolExecutor(1) as pool:
        patched.setattr(JsonParser, "parse", parse_slowly)
        first = pool.submit(ask, web_server, people, body)
        assert has_begun.wait(20)
        status, refused = ask(web_server, people, body)
        may_end.set()
        assert first.result()[0] == 400

    assert (status, refused["code"]) == (503, "busy")
    assert "150,000 of them yours. It processes 400,000 at a time (2 times SCHEDVIZ_BODY_BYTES)" in refused["detail"]
    assert ask(web_server, people, body)[0] == 400
    sending.close()


def test_bodies_of_clients_without_an_account_count_together(people, monkeypatch):
    found = set()
    for role in ("link", "editor-link"):
        cookies = people.client(role).cookies
        cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items()).encode()
        found.add(body_limit._authenticate({b"cookie": cookie}, is_upload=False))

    visitor = User.objects.create_user("visitor")
    monkeypatch.setattr(senders, "_networks_of", lambda _: {visitor.pk: "a network"})
    for actor in (Actor(guest="a participant"), Actor(user_id=visitor.pk)):
        monkeypatch.setattr(body_limit, "actor_with", lambda _, actor=actor: actor)
        found.add(body_limit._authenticate({}, is_upload=False))

    assert found == {"without an account"}


def test_a_refused_body_is_read_for_a_bounded_time(web_server, people, monkeypatch):
    monkeypatch.setattr(body_limit, "DISCARD_SECONDS", 0.5)
    slow = http.client.HTTPConnection(web_server.netloc, timeout=10)
    slow.putrequest("POST", "/api/v1/sessions/")
    slow.putheader("Content-Type", "application/json")
    slow.putheader("Content-Length", "1000000")
    slow.endheaders(b" " * 70_000)

    assert slow.getresponse().status == 401
    slow.close()


def test_a_body_for_which_the_disk_has_no_space_gets_507(web_server, people, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_EncryptedFile, "write", full)
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n'
    monkeypatch.setattr(settings, "FILE_UPLOAD_MAX_MEMORY_SIZE", 1000)

    status, body = ask(web_server, people, part + b"a" * 1_000_000 + b"\r\n--x--\r\n", **FORM)

    assert (status, body["code"]) == (507, "disk_full")
    assert body["detail"].startswith("A disk of the server is full. This request was not stored.")
