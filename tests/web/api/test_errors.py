"""The form of error responses, which is the same for every refused request."""

from __future__ import annotations

import pytest
from django.db import DataError, OperationalError, connection
from limits import RateLimitItemPerMinute
from rest_framework.test import APIClient

from schedviz.sessions.history import reading
from schedviz.sessions.redis import stream
from schedviz.sessions.transfer import deletion
from schedviz.web.api.errors import ApiError, error_response
from schedviz.web.api.rate_limit import _Counters, _counters

pytestmark = pytest.mark.django_db


def test_a_database_that_is_down_gets_503(owner_client, people):
    def fail(*_args: object, **_kwargs: object) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(fail):
        response = owner_client.get(f"/api/v1/sessions/{people.session.pk}/")
        page = owner_client.get(f"/s/{people.session.pk}/")

    for one in (response, page):
        assert one.status_code == 503
        assert one.json()["error"]["code"] == "database_down"
        assert one["Retry-After"]


def test_a_bug_gets_500_without_a_traceback(owner_client, people, monkeypatch):
    def fail(*_args: object, **_kwargs: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(reading, "state_at_head", fail)

    response = owner_client.get(f"/api/v1/sessions/{people.session.pk}/state/")

    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal"
    assert b"secret" not in response.content
    assert b"Traceback" not in response.content


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("error", [ZeroDivisionError(), ApiError(409, "history_unavailable", "No stored state leads to it.")])
def test_a_request_that_fails_because_its_session_was_deleted_meanwhile_gets_404(owner_client, people, monkeypatch, error, is_done):
    def fail(*_args: object, **_kwargs: object) -> None:
        (deletion.delete_session if is_done else deletion.fence)(people.session.pk)
        raise error

    monkeypatch.setattr(reading, "state_at_head", fail)

    response = owner_client.get(f"/api/v1/sessions/{people.session.pk}/state/")

    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_requests_from_before_redis_clock_was_set_back_do_not_count(owner_client, people, redis, settings):
    settings.REQUESTS_PER_MINUTE = 2
    # Redis may have been away in another test.
    _counters.cache_clear()
    address = f"/api/v1/sessions/{people.session.pk}/"
    responses = [owner_client.get(address) for _ in range(4)]
    connection = stream.client()
    # As Redis has them three hours earlier.
    for key in connection.scan_iter("*rate*"):
        connection.pexpire(key, connection.pttl(key) + 3 * 3600 * 1000)

    assert responses[-1].status_code == 429
    assert owner_client.get(address).status_code == 200


def test_a_request_counts_once_more_for_each_64_kib_of_its_body(owner_client, people, redis, settings):
    settings.REQUESTS_PER_MINUTE = 40
    address = f"/api/v1/sessions/{people.session.pk}/commands/"
    body = {"op": "create", "object": {"kind": "Node", "metadata": {"name": "a", "annotations": {"a": "x" * 200_000}}}}

    small, large, huge = (owner_client.post(address, each, format="json") for each in ({"op": "cycle"}, body, {"a": "x" * 3_000_000}))
    refused = [owner_client.post(address, {"a": "x" * 3_000_000}, format="json") for _ in range(3)][-1]

    # No body costs more than a quarter of the limit.
    assert [int(one["RateLimit-Remaining"]) for one in (small, large, huge)] == [39, 35, 25]
    assert refused.status_code == 429
    assert "this one counts as 10, one for each 65,536 bytes of its body" in refused.json()["detail"]


def test_too_many_requests_get_429(owner_client, people, redis, settings):
    settings.REQUESTS_PER_MINUTE = 2

    responses = [owner_client.get("/api/v1/sessions/") for _ in range(4)]

    assert [response.status_code for response in responses] == [200, 200, 429, 429]
    assert [response["RateLimit-Remaining"] for response in responses] == ["1", "0", "0", "0"]
    assert {response["RateLimit-Limit"] for response in responses} == {"2"}
    assert 0 < int(responses[-1]["Retry-After"]) <= 60
    assert responses[-1].json()["code"] == "too_many_requests"
    assert "SCHEDVIZ_REQUESTS_PER_MINUTE" in responses[-1].json()["detail"]
    assert people.client("editor").get("/api/v1/sessions/").status_code == 200


@pytest.mark.parametrize("secret", ["unknown", "schedviz_" + "x" * 43])
def test_requests_with_invalid_credentials_count_as_anonymous(people, redis, settings, secret):
    settings.STRANGER_REQUESTS_PER_MINUTE = 2
    client = APIClient(headers={"Authorization": f"Bearer {secret}"})

    responses = [client.get("/api/v1/problems/").status_code for _ in range(3)]

    assert responses == [401, 401, 429]
    assert APIClient().get("/api/v1/problems/").status_code == 429
    assert people.client("owner").get("/api/v1/problems/").status_code == 200


def test_the_remaining_limit_is_read_from_redis(redis, settings):
    counters, item = _Counters(), RateLimitItemPerMinute(3)

    checks = [counters.count(item, "requests", "somebody") for _ in range(4)]

    assert [(one.allowed, one.remaining) for one in checks] == [(True, 2), (True, 1), (True, 0), (False, 0)]
    assert counters.count(item, "requests", "somebody else").remaining == 2
    assert counters._shared.get_window_stats(item, "requests", "somebody").remaining == 0


def test_created_sessions_have_their_own_limit(owner_client, redis, settings):
    settings.NEW_SESSIONS_PER_MINUTE = 1

    made = [owner_client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json").status_code for _ in range(2)]

    assert made == [201, 429]
    assert owner_client.get("/api/v1/sessions/").status_code == 200


def test_requests_are_counted_while_redis_is_down(owner_client, people, redis, settings):
    settings.REQUESTS_PER_MINUTE = 3
    redis.kill()
    try:
        responses = [owner_client.get(f"/api/v1/sessions/{people.session.pk}/").status_code for _ in range(4)]
    finally:
        redis.start()

    assert responses == [200, 200, 200, 429]


def test_a_wrong_token_gets_401(client, people):
    response = client.get("/api/v1/sessions/", headers={"Authorization": "Bearer wrong"})

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["error"]["code"] == "unauthenticated"


def test_every_response_has_the_security_headers(owner_client, people):
    for address in ("/api/v1/sessions/", f"/s/{people.session.pk}/", "/login/", "/nothing/", "/healthz"):
        response = owner_client.get(address)
        assert response["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["X-Frame-Options"] == "DENY"


def test_an_unknown_method_gets_405(owner_client, people):
    response = owner_client.put(f"/api/v1/sessions/{people.session.pk}/", {}, format="json")

    assert response.status_code == 405
    assert response.json()["error"]["code"] == "method_not_allowed"


def test_text_that_the_database_cannot_store_gets_400() -> None:
    refused = error_response(DataError("row (secret) has a character U+0000"), {})

    assert refused is not None
    assert (refused.status_code, refused.data["code"]) == (400, "invalid")
    assert "secret" not in str(refused.data)
