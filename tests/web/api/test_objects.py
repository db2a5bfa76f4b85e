"""Stored objects over REST, read by a real worker, and updated."""

from __future__ import annotations

from uuid import UUID

import pytest

from schedviz.sessions.models import Session
from tests.conftest import Worker
from tests.sessions.conftest import MakeSession, make_session, send, work_off  # noqa: F401  (a fixture)
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def looked_at(people: People, make_session: MakeSession, io_worker: Worker) -> UUID:  # noqa: F811
    session_id = make_session(nodes=2, pods=1)
    work_off(session_id)
    Session.objects.filter(pk=session_id).update(owner=people.owner)
    return session_id


def test_an_object_can_be_read_changed_and_sent_back(people: People, looked_at: UUID) -> None:
    owner = people.client("owner")
    node = owner.get(f"/api/v1/sessions/{looked_at}/objects/?kind=Node&name=node-1").json()
    assert (node["apiVersion"], node["kind"], node["metadata"]["name"]) == ("v1", "Node", "node-1")

    node["spec"] = {"unschedulable": True}
    send(looked_at, "update", object=node)
    work_off(looked_at)

    changed = owner.get(f"/api/v1/sessions/{looked_at}/objects/?kind=Node&name=node-1").json()
    assert changed["spec"]["unschedulable"] is True


def test_a_missing_object_gets_an_error_that_names_it(people: People, looked_at: UUID) -> None:
    owner = people.client("owner")
    response = owner.get(f"/api/v1/sessions/{looked_at}/objects/?kind=Pod&name=nobody")
    assert response.status_code == 404
    assert response.json()["error"]["message"] == "There is no Pod default/nobody at this moment."

    unknown = owner.get(f"/api/v1/sessions/{looked_at}/objects/?kind=Toaster&name=a")
    assert unknown.status_code == 400
    assert unknown.json()["error"]["detail"]["path"] == "?kind"


def test_a_user_without_access_reads_no_object(people: People, looked_at: UUID) -> None:
    assert people.client("stranger").get(f"/api/v1/sessions/{looked_at}/objects/?kind=Node&name=node-1").status_code == 404


def test_labels_select_objects_by_name(people: People, looked_at: UUID) -> None:
    owner = people.client("owner")
    send(looked_at, "create", object={"apiVersion": "v1", "kind": "Node", "metadata": {"name": "labelled", "labels": {"tier": "gold"}}})
    work_off(looked_at)
    address = f"/api/v1/sessions/{looked_at}/objects/selected/?kind=Node"

    assert owner.get(f"{address}&selector=tier%3Dgold").json() == {"names": ["labelled"]}
    assert sorted(owner.get(f"{address}&selector=!tier").json()["names"]) == ["node-1", "node-2"]
    assert len(owner.get(address).json()["names"]) == 3


def test_an_invalid_selector_is_reported_at_its_position(people: People, looked_at: UUID) -> None:
    refused = people.client("owner").get(f"/api/v1/sessions/{looked_at}/objects/selected/?kind=Node&selector=a%20b")
    assert refused.status_code == 400
    assert refused.json()["error"]["detail"]["path"] == "?selector"
