"""A request that is sent again is executed once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, OperationalError
from django.utils import timezone
from rest_framework.test import APIClient

from schedviz.sessions import keyed_digest
from schedviz.sessions.models import Breakpoint, Command, Membership, Session, ShareLink
from schedviz.web.api import idempotency, idempotency_outcomes
from schedviz.web.api.models import AnsweredRequest
from schedviz.web.auth.login import make_token

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "k1"}


def test_a_repeated_request_creates_one_session(owner_client, people):
    first, second = (owner_client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json", headers=KEY) for _ in range(2))

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert (first["Location"], second["Idempotent-Replayed"]) == (second["Location"], "true")
    assert Session.objects.count() == 2


def test_whole_files_are_compared(owner_client, people):
    def send(content: bytes):
        file = SimpleUploadedFile("cluster.json", content)
        return owner_client.post("/api/v1/sessions/", {"file": file, "name": "n"}, format="multipart", headers=KEY)

    made, again, other = send(b"{}"), send(b"{}"), send(b"[]")

    assert (made.status_code, again.status_code, other.status_code) == (201, 201, 409)
    assert made.json()["id"] == again.json()["id"]
    assert other.json()["code"] == "key_reused"


def test_stored_digests_are_keyed_and_older_ones_without_a_key_still_match(owner_client, people):
    def send():
        return owner_client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json", headers=KEY)

    send()
    digests = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed_digest, "keyed", lambda digest: digests.append(digest) or "")
        assert send().status_code == 409
    assert not AnsweredRequest.objects.filter(digest__in=digests).exists()
    # As the version before stored it.
    AnsweredRequest.objects.update(digest=digests[-1])

    assert send()["Idempotent-Replayed"] == "true"


def test_a_refused_request_leaves_its_key_free(owner_client, people):
    refused = owner_client.post("/api/v1/sessions/", {"generate": {"nodes": -2}}, format="json", headers=KEY)
    made = owner_client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json", headers=KEY)

    assert (refused.status_code, made.status_code) == (400, 201)


def test_an_idempotency_key_belongs_to_one_user(people):
    made = [
        people.client(name).post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json", headers=KEY)
        for name in ("owner", "editor")
    ]

    assert [response.status_code for response in made] == [201, 201]
    assert made[0].json()["id"] != made[1].json()["id"]


def test_a_repeated_request_needs_the_permission_of_the_first(owner_client, people):
    body, address = {"when": "popped default/web"}, f"/api/v1/sessions/{people.session.pk}/breakpoints/"
    editor = people.client("editor")
    assert editor.post(address, body, format="json", headers=KEY).status_code == 201
    Membership.objects.filter(session=people.session, user=people.editor).update(role=Membership.Role.VIEWER)
    assert editor.post(address, body, format="json", headers=KEY).status_code == 403
    Membership.objects.filter(session=people.session, user=people.editor).delete()
    assert editor.post(address, body, format="json", headers=KEY).status_code == 404

    new = {"generate": {"nodes": 2}}
    assert owner_client.post("/api/v1/sessions/", new, format="json", headers=KEY).status_code == 201
    reader = APIClient(headers={"Authorization": f"Bearer {make_token(people.owner, 'r', scope='read')}"})
    assert reader.post("/api/v1/sessions/", new, format="json", headers=KEY).status_code == 403


def test_a_repeated_request_gets_in_progress_until_the_first_must_have_ended(owner_client, people):
    body, address = {"when": "popped default/web"}, f"/api/v1/sessions/{people.session.pk}/breakpoints/"
    owner_client.post(address, body, format="json", headers=KEY)
    Breakpoint.objects.all().delete()
    AnsweredRequest.objects.update(status=0)

    under_way = owner_client.post(address, body, format="json", headers=KEY)
    AnsweredRequest.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    after = owner_client.post(address, body, format="json", headers=KEY)

    assert (under_way.status_code, under_way.json()["code"]) == (409, "in_progress")
    assert after.status_code == 201
    assert Breakpoint.objects.count() == 1


def test_a_request_that_crashed_before_the_clock_was_set_back_does_not_hold_its_key(owner_client, people):
    body, address = {"when": "popped default/web"}, f"/api/v1/sessions/{people.session.pk}/breakpoints/"
    owner_client.post(address, body, format="json", headers=KEY)
    AnsweredRequest.objects.update(status=0, created_at=timezone.now() + timedelta(hours=3))

    assert owner_client.post(address, body, format="json", headers=KEY).status_code == 201


def test_a_repeated_request_returns_the_link_although_its_secret_is_not_stored(owner_client, people):
    address = f"/api/v1/sessions/{people.session.pk}/links/"

    first, second = (owner_client.post(address, {"role": "viewer"}, format="json", headers=KEY) for _ in range(2))
    another = owner_client.post(address, {"role": "viewer"}, format="json", headers={"Idempotency-Key": "k2"})

    assert (first.status_code, second.status_code, another.status_code) == (201, 200, 201)
    assert first.json()["url"] == second.json()["url"] != another.json()["url"]
    assert ShareLink.objects.count() == 2
    assert not AnsweredRequest.objects.exists()


def test_commands_sent_together_are_stored_once_or_not_at_all(owner_client, people, redis):
    address = f"/api/v1/sessions/{people.session.pk}/commands/together/"
    commands = {"commands": [{"op": "cycle"}, {"op": "run", "max": 3}]}

    first, second = (owner_client.post(address, commands, format="json", headers=KEY) for _ in range(2))
    bad = owner_client.post(address, {"commands": [{"op": "cycle"}, {"op": "fly"}]}, format="json")
    partly = owner_client.post(address, {"commands": [{"op": "cycle", "key": "k1/0"}, {"op": "pause"}]}, format="json")

    assert [one["seq"] for one in first.json()["results"]] == [1, 2]
    assert [(one["seq"], one["duplicate"]) for one in second.json()["results"]] == [(1, True), (2, True)]
    assert (bad.status_code, bad.json()["path"]) == (400, "$.commands[1].op")
    assert (partly.status_code, partly.json()["code"]) == (409, "key_reused")
    assert Command.objects.count() == 2


def test_a_batch_of_more_commands_than_may_wait_is_refused_as_a_whole(owner_client, people, redis, settings):
    settings.COMMANDS_WAITING = 2

    response = owner_client.post(
        f"/api/v1/sessions/{people.session.pk}/commands/together/", {"commands": [{"op": "cycle"}] * 3}, format="json"
    )

    assert (response.status_code, response.json()["code"]) == (429, "too_many_commands")
    assert not Command.objects.exists()


def test_commands_are_listed_in_pages(owner_client, people, redis):
    base = f"/api/v1/sessions/{people.session.pk}/commands/"
    owner_client.post(f"{base}together/", {"commands": [{"op": "cycle"}] * 5}, format="json")

    first = owner_client.get(base, {"limit": 2})
    last = owner_client.get(base, {"tail": 2}).json()

    assert [one["seq"] for one in first.json()["results"]] == [1, 2]
    assert (first.json()["next"], first.json()["previous"], first.json()["last"]) == (2, None, 5)
    assert ([one["seq"] for one in last["results"]], last["next"], last["previous"]) == ([4, 5], None, 4)
    assert 'after=2>; rel="next"' in first["Link"]


def test_a_request_is_processed_if_the_one_with_its_key_has_just_been_refused(owner_client, people, monkeypatch):
    create = AnsweredRequest.objects.create
    collisions = []

    def collide(**values):
        # As when another web server has reserved the key, and releases it before this one looks at it.
        if not collisions:
            collisions.append(values)
            raise IntegrityError
        return create(**values)

    monkeypatch.setattr(AnsweredRequest.objects, "create", collide)

    assert owner_client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json", headers=KEY).status_code == 201
    assert collisions


@pytest.fixture
def database_down(monkeypatch):
    """A database that stores no outcomes until it is called."""
    store, is_down = idempotency_outcomes._store, [True]

    def unreachable(request_id: int, response: object) -> None:
        if is_down:
            raise OperationalError
        store(request_id, response)

    monkeypatch.setattr(idempotency_outcomes, "_store", unreachable)
    monkeypatch.setattr(idempotency_outcomes._RETRY, "request", lambda: None)
    monkeypatch.setattr(idempotency_outcomes.connection, "close", lambda: None)
    yield is_down.clear
    idempotency_outcomes._unstored.clear()


def test_a_request_that_ended_while_the_database_was_down_leaves_its_key_free_afterwards(owner_client, people, database_down):
    def send(nodes: int):
        return owner_client.post("/api/v1/sessions/", {"generate": {"nodes": nodes}}, format="json", headers=KEY)

    assert (send(-1).status_code, send(-1).json()["code"]) == (400, "in_progress")
    idempotency_outcomes._store_waiting()
    assert send(-1).json()["code"] == "in_progress"
    database_down()
    idempotency_outcomes._store_waiting()

    assert (send(2).status_code, idempotency_outcomes._unstored) == (201, {})


def test_the_response_is_sent_and_replayed_although_the_database_was_down_when_it_was_stored(owner_client, people, database_down):
    def send():
        return owner_client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json", headers=KEY)

    first = send()
    database_down()
    idempotency_outcomes._store_waiting()
    again = send()

    assert (first.status_code, again.status_code, again["Idempotent-Replayed"]) == (201, 201, "true")
    assert first.json() == again.json()


def test_the_newest_keys_of_a_user_are_kept(owner_client, people, monkeypatch):
    monkeypatch.setattr(idempotency, "MAX_KEYS", 2)
    AnsweredRequest.objects.create(user=people.stranger, key="of another", digest="d", status=201)
    for number in range(4):
        body = {"when": f"cycle == {number + 1}"}
        owner_client.post(
            f"/api/v1/sessions/{people.session.pk}/breakpoints/", body, format="json", headers={"Idempotency-Key": f"k{number}"}
        )

    assert set(AnsweredRequest.objects.values_list("key", flat=True)) == {"of another", "k2", "k3"}
