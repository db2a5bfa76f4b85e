"""Explanations over REST, computed by a real worker."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from rest_framework.test import APIClient

from schedviz.ingest.pasted.pasted_text import MAX_TEXT_LENGTH
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create
from tests.conftest import Worker, until
from tests.sessions.conftest import dump, send, work_off
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def a_pod(cpu: str) -> dict[str, Any]:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "namespace": "default"}, "spec": {"containers": containers}}


@pytest.fixture
def session_id(people: People, io_worker: Worker) -> UUID:
    source = create.Files([ContentFile(dump(2, 1), name="cluster.json")])
    session_id: UUID = create.create_session(None, "a test", source).pk
    until(lambda: Session.objects.get(pk=session_id).status == Session.Status.READY)
    send(session_id, "create", object=a_pod("1000"))
    send(session_id, "run")
    work_off(session_id)
    Session.objects.filter(pk=session_id).update(owner=people.owner)
    return session_id


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner")


def test_a_pending_pod_is_explained_with_the_nodes_behind_each_clause(owner: APIClient, session_id: UUID) -> None:
    explanation = owner.get(f"/api/v1/sessions/{session_id}/explain/default/large/").json()
    assert explanation["outlook"] == "never"
    assert explanation["message"].startswith("0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No ")
    assert [(clause["count"], clause["nodes"]) for clause in explanation["clauses"]] == [(2, ["node-2", "node-1"])]
    assert explanation["said"] == explanation["message"]
    assert explanation["release"] == "v1.27.1"


@pytest.mark.parametrize(
    ("address", "first"),
    [("explain/default/large/", "### Why `default/large` is pending"), ("overview/", "### 1 pod is pending")],
)
def test_an_explanation_is_returned_as_markdown(owner: APIClient, session_id: UUID, address: str, first: str) -> None:
    response = owner.get(f"/api/v1/sessions/{session_id}/{address}", {"format": "markdown"})

    assert (response.status_code, response["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    lines = response.content.decode().splitlines()
    assert lines[0] == first
    assert any("Insufficient cpu" in line for line in lines)


@pytest.mark.parametrize("address", ["explain/default/large/", "overview/"])
def test_an_explanation_is_returned_as_a_page_with_its_own_policy_and_as_an_image(owner: APIClient, session_id: UUID, address: str) -> None:
    page = owner.get(f"/api/v1/sessions/{session_id}/{address}", {"format": "html"})
    light = owner.get(f"/api/v1/sessions/{session_id}/{address}", {"format": "png"})
    dark = owner.get(f"/api/v1/sessions/{session_id}/{address}", {"format": "png", "theme": "dark"})

    assert (page.status_code, page["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert page["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "Insufficient cpu" in page.content.decode()
    assert (light["Content-Type"], light.content[:4]) == ("image/png", b"\x89PNG")
    assert dark.content != light.content


def test_cards_need_the_permission_of_the_explanation_and_a_pod_that_exists(people: People, owner: APIClient, session_id: UUID) -> None:
    for form in ("html", "png", "markdown"):
        assert people.client("stranger").get(f"/api/v1/sessions/{session_id}/explain/default/large/", {"format": form}).status_code == 404
        assert owner.get(f"/api/v1/sessions/{session_id}/explain/default/nobody/", {"format": form}).status_code == 404


def test_a_card_has_the_smallest_change(owner: APIClient, session_id: UUID) -> None:
    text = owner.get(f"/api/v1/sessions/{session_id}/explain/default/large/", {"format": "markdown"}).content.decode()
    assert "**Changes that make the pod schedulable** (each verified by a dry run)" in text


def test_the_smallest_change_is_returned(owner: APIClient, session_id: UUID) -> None:
    body = owner.get(f"/api/v1/sessions/{session_id}/explain/default/large/change/").json()
    assert body["suggestions"][0]["changes"][0]["kind"] == "request"


def test_pending_pods_are_returned_in_groups(owner: APIClient, session_id: UUID) -> None:
    assert [group["pods"] for group in owner.get(f"/api/v1/sessions/{session_id}/explain/").json()] == [["default/large"]]


def test_the_overview_has_each_reason_with_its_numbers(owner: APIClient, session_id: UUID) -> None:
    body = owner.get(f"/api/v1/sessions/{session_id}/overview/").json()
    assert body["sentence"] == "1 pod is pending"
    [reason] = body["reasons"]
    assert (reason["reason"], reason["count"]) == ("Insufficient cpu", 1)
    assert reason["groups"][0]["detail"].startswith("the pod requests 1000 CPU, but the largest node has only ")


def test_the_overview_has_what_would_place_the_pods_on_request(owner: APIClient, session_id: UUID) -> None:
    picky = a_pod("1")
    picky["metadata"]["name"] = "picky"
    picky["spec"]["nodeSelector"] = {"disk": "fast"}
    send(session_id, "create", object=picky)
    work_off(session_id)
    address = f"/api/v1/sessions/{session_id}/overview/"
    quick, searched = owner.get(address).json()["reasons"], owner.get(address, {"changes": 1}).json()["reasons"]
    assert [(reason["changes"], reason["advice"] != "") for reason in quick] == [([], True), ([], True)]
    # Nobody would request a fraction of 1000 cpu.
    kinds = {reason["groups"][0]["pods"][0]: [change["kind"] for change in reason["changes"]] for reason in searched}
    assert kinds == {"default/large": [], "default/picky": ["label"]}


def test_what_if_counts_copies_and_changes_nothing(owner: APIClient, session_id: UUID) -> None:
    before = owner.get(f"/api/v1/sessions/{session_id}/state/").json()
    body = owner.post(f"/api/v1/sessions/{session_id}/what-if/", {"pod": a_pod("1"), "copies": 3}, format="json").json()
    assert body["placed"] == 3
    assert owner.get(f"/api/v1/sessions/{session_id}/state/").json() == before


def test_a_moment_is_explained_as_it_was(owner: APIClient, session_id: UUID) -> None:
    before = Session.objects.get(pk=session_id).event
    send(session_id, "update", object={**node_of(owner, session_id), "spec": {"unschedulable": True}})
    work_off(session_id)
    now = owner.get(f"/api/v1/sessions/{session_id}/explain/default/large/").json()
    then = owner.get(f"/api/v1/sessions/{session_id}/explain/default/large/?at={before}").json()
    assert then["message"].startswith("0/2 nodes are available: 2 Insufficient cpu. preemption: ")
    assert now["message"].startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: ")
    assert "unschedulable" not in node_of(owner, session_id, f"&at={before}").get("spec", {})
    assert node_of(owner, session_id, "&at=999999")["spec"]["unschedulable"] is True, "What has not happened yet is the newest state."


def node_of(owner: APIClient, session: UUID, more: str = "") -> dict[str, Any]:
    body: dict[str, Any] = owner.get(f"/api/v1/sessions/{session}/objects/?kind=Node&name=node-1{more}").json()
    return body


def test_a_message_is_returned_as_clauses_with_the_nodes_of_a_pod(owner: APIClient, session_id: UUID) -> None:
    address = f"/api/v1/sessions/{session_id}/explain/message/"
    text = "Warning  FailedScheduling  0/9 nodes are available: 7 Insufficient cpu, 2 node(s) were unschedulable."
    alone = owner.post(address, {"text": text}, format="json").json()
    assert [(clause["count"], clause["reason"], clause["nodes"]) for clause in alone["clauses"]] == [
        (7, "Insufficient cpu", []),
        (2, "node(s) were unschedulable", []),
    ]
    assert all(clause["meaning"] for clause in alone["clauses"])
    of_pod = owner.post(address, {"text": text, "pod": "default/large"}, format="json").json()
    assert of_pod["clauses"][0]["nodes"] == ["node-1", "node-2"]
    assert owner.post(address, {"text": "it hangs"}, format="json").status_code == 400
    assert owner.post(address, {"text": text, "pod": "default/nobody"}, format="json").status_code == 404


def test_an_unknown_pod_is_404_with_its_name(owner: APIClient, session_id: UUID) -> None:
    response = owner.get(f"/api/v1/sessions/{session_id}/explain/default/nobody/")
    assert response.status_code == 404
    assert "default/nobody" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"pod": {"kind": "Pod", "spec": {"containers": 3}}}, "pod.spec.containers"),
        ({"pod": {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}}, "pod.kind"),
        ({"pod": {}, "copies": 0}, "$.copies"),
        ({}, "$.pod"),
    ],
)
def test_a_bad_what_if_is_400_with_the_path(owner: APIClient, session_id: UUID, body: dict[str, Any], path: str) -> None:
    response = owner.post(f"/api/v1/sessions/{session_id}/what-if/", body, format="json")
    assert response.status_code == 400
    assert response.json()["error"]["detail"]["path"] == path


def test_a_user_without_access_gets_404(people: People, session_id: UUID) -> None:
    assert people.client("stranger").get(f"/api/v1/sessions/{session_id}/explain/").status_code == 404


def test_an_explanation_includes_what_the_doctor_found_in_the_files(people: People, owner: APIClient, io_worker: Worker) -> None:
    folder = Path(__file__).parents[2] / "samples" / "sigusr2" / "05-stale-watch"
    files = [ContentFile((folder / name).read_bytes(), name=name) for name in ("objects.json", "scheduler.log")]
    session_id = create.create_session(None, "stale", create.Files(files)).pk
    until(lambda: Session.objects.get(pk=session_id).status == Session.Status.READY)
    Session.objects.filter(pk=session_id).update(owner=people.owner)

    explanation = owner.get(f"/api/v1/sessions/{session_id}/explain/default/lost-pending-1/").json()
    assert [finding["kind"] for finding in explanation["findings"]] == ["missed pod", "missed node"]
    reasons = owner.get(f"/api/v1/sessions/{session_id}/overview/").json()["reasons"]
    assert reasons[0]["reason"] == "unknown to the scheduler"


def test_a_text_is_explained_without_a_session_up_to_its_limit(owner: APIClient, io_worker: Worker) -> None:
    message = "shop/web: 0/2 nodes are available: 2 Insufficient cpu."
    padded = " " * (MAX_TEXT_LENGTH - len(message)) + message

    explained = owner.post("/api/v1/explain/message/", {"text": padded}, format="json").json()
    refused = owner.post("/api/v1/explain/message/", {"text": f" {padded}"}, format="json")

    assert [each["message"]["nodes"] for each in explained["messages"]] == [2]
    assert refused.status_code == 400
    assert "2097152" in refused.json()["detail"]


def test_several_texts_are_explained_as_one_answer(owner: APIClient, io_worker: Worker) -> None:
    text = "pod/web-6f7d8c9b5-{}: 0/{} nodes are available: {} Insufficient cpu."
    texts = [text.format(name, nodes, nodes) for name, nodes in (("bbcdz", 6), ("fghkj", 7))]

    explained = owner.post("/api/v1/explain/message/", {"texts": texts}, format="json").json()
    card = owner.post("/api/v1/explain/message/?format=markdown", {"texts": texts, "pod": explained["messages"][1]["pod"]}, format="json")
    too_many = owner.post("/api/v1/explain/message/", {"texts": texts * 5}, format="json")

    assert [group["pods"] for group in explained["groups"]] == [[each["pod"] for each in explained["messages"]]]
    assert "2 pods" in card.content.decode()
    assert too_many.status_code == 400


def test_an_uploaded_file_is_explained_as_text_without_a_session(owner: APIClient, io_worker: Worker) -> None:
    packed = base64.b64encode(gzip.compress(b"Name: web")).decode()

    assert owner.post("/api/v1/explain/message/", {"file": packed}, format="json").json()["text"] == "Name: web"
    assert owner.post("/api/v1/explain/message/", {"file": packed, "text": "a"}, format="json").status_code == 400
    assert owner.post("/api/v1/explain/message/", {"texts": ["a"], "text": "a"}, format="json").status_code == 400
    assert owner.post("/api/v1/explain/message/", {"texts": [""]}, format="json").status_code == 400
    assert owner.post("/api/v1/explain/message/", {}, format="json").status_code == 400
