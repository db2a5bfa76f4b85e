"""ETags: unchanged resources are not sent again, concurrent changes are not overwritten."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from schedviz.sessions.commands import breakpoints
from schedviz.sessions.models import Command, Session
from schedviz.web.api import versions

pytestmark = pytest.mark.django_db


#: Resources of a session, below its address.
OF_A_SESSION = (
    *("", "state/", "view/", "view/?at=1", "events/", "cycles/", "commands/", "timeline/", "breakpoints/", "branches/"),
    *("links/", "members/", "invites/", "observations/", "agreement/"),
)
OTHERS = ("lessons/", "lessons/the-list/", "cases/", "samples/", "samples/nominated-for-ever/", "quotas/")


@pytest.mark.parametrize("address", [*(f"sessions/{{s}}/{rest}" for rest in OF_A_SESSION), *OTHERS])
def test_an_unchanged_resource_is_not_sent_again(owner_client, people, commits, address):
    commits.checkpoint()
    commits.chunk(events=3)
    url = f"/api/v1/{address.format(s=people.session.pk)}"
    first = owner_client.get(url)
    assert first.status_code == 200, first.content

    again = owner_client.get(url, headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert first["Cache-Control"] == "private, no-cache"


def test_an_event_changes_the_version_of_the_newest_state_and_not_of_past_ones(owner_client, people, commits):
    commits.chunk(events=3)
    base = f"/api/v1/sessions/{people.session.pk}"
    newest, past = owner_client.get(f"{base}/view/")["ETag"], owner_client.get(f"{base}/view/?at=2")["ETag"]

    commits.chunk(events=1)

    assert owner_client.get(f"{base}/view/", headers={"If-None-Match": newest}).status_code == 200
    assert owner_client.get(f"{base}/view/?at=2", headers={"If-None-Match": past}).status_code == 304


def test_a_user_without_access_learns_nothing_from_a_matching_etag(people):
    address = f"/api/v1/sessions/{people.session.pk}/state/"
    etag = people.client("owner").get(address)["ETag"]

    response = people.client("stranger").get(address, headers={"If-None-Match": etag})

    assert response.status_code == 404
    assert "ETag" not in response


def test_a_stale_version_cannot_rename_or_delete_a_session(owner_client, people):
    address = f"/api/v1/sessions/{people.session.pk}/"
    seen = owner_client.get(address)["ETag"]
    owner_client.patch(address, {"name": "by another"}, format="json")

    renamed = owner_client.patch(address, {"name": "mine"}, format="json", headers={"If-Match": seen})
    deleted = owner_client.delete(address, headers={"If-Match": seen})

    assert (renamed.status_code, deleted.status_code) == (412, 412)
    assert renamed.json()["code"] == "changed"
    assert Session.objects.get().name == "by another"
    assert owner_client.delete(address, headers={"If-Match": owner_client.get(address)["ETag"]}).status_code == 204


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("first", "second"), [("patch", "patch"), ("patch", "delete"), ("delete", "patch"), ("delete", "delete")])
@pytest.mark.parametrize("resource", ["", "breakpoints/1/"])
def test_of_two_changes_of_one_version_at_the_same_time_one_applies(people, monkeypatch, resource, first, second):
    breakpoints.create(people.session.pk, "cycle > 3")
    address = f"/api/v1/sessions/{people.session.pk}/{resource}"
    seen = people.client("owner").get(address)["ETag"]
    bodies = {"patch": {"when": "cycle > 4"} if resource else {"name": "changed"}, "delete": None}
    has_compared = threading.Event()
    require_version = versions.require_version

    def compare_slowly(*args):
        require_version(*args)
        if not has_compared.is_set():
            has_compared.set()
            time.sleep(0.3)

    monkeypatch.setattr(versions, "require_version", compare_slowly)

    def change(method):
        try:
            response = getattr(people.client("owner"), method)(address, bodies[method], format="json", headers={"If-Match": seen})
            return response.status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(change, first)
        assert has_compared.wait(20)
        late = pool.submit(change, second)
        statuses = slow.result(), late.result()

    assert statuses[0] in (200, 204)
    assert statuses[1] in ((412, 404) if first == "delete" else (412,))


def test_a_command_with_a_stale_version_is_refused(owner_client, people, commits, redis):
    base = f"/api/v1/sessions/{people.session.pk}"
    seen = owner_client.get(f"{base}/state/")["ETag"]

    first = owner_client.post(f"{base}/commands/", {"op": "cycle", "key": "a"}, format="json", headers={"If-Match": seen})
    second = owner_client.post(f"{base}/commands/", {"op": "cycle", "key": "b"}, format="json", headers={"If-Match": seen})
    again = owner_client.post(f"{base}/commands/", {"op": "cycle", "key": "a"}, format="json", headers={"If-Match": seen})

    assert (first.status_code, second.status_code, again.status_code) == (202, 412, 202)
    assert again.json()["duplicate"]
    assert [command.key for command in Command.objects.all()] == ["a"]
    assert owner_client.get(f"{base}/state/").json()["lastSeq"] == 1


def test_an_if_match_header_that_is_no_etag_of_a_state_is_refused_by_name(owner_client, people):
    response = owner_client.post(
        f"/api/v1/sessions/{people.session.pk}/commands/", {"op": "cycle"}, format="json", headers={"If-Match": '"what"'}
    )

    assert (response.status_code, response.json()["path"]) == (400, "If-Match")


def test_responses_without_a_version_are_not_cached(people):
    for role, path in (("staff", "audit/"), ("owner", "nowhere/"), ("anonymous", "sessions/")):
        assert people.client(role).get(f"/api/v1/{path}")["Cache-Control"] == "private, no-store", path
    assert people.client("owner").get(f"/api/v1/sessions/{people.session.pk}/")["Cache-Control"] == "private, no-cache"
