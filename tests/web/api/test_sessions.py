"""Creating, listing and deleting sessions over REST."""

from __future__ import annotations

import gzip
import json
import re
import uuid
from datetime import datetime

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from schedviz.celery import WORKER_COMMANDS
from schedviz.sessions.commands import inbox
from schedviz.sessions.models import Command, Session, Upload
from schedviz.sessions.uploads.encryption import OVERHEAD_BYTES
from schedviz.sessions.uploads.stored_files import StoredFiles
from schedviz.trace.commands import Pause

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_worker_runs(redis):
    """Redis runs and no worker does, so a session stays `importing`."""


def test_files_create_a_session_at_once(owner_client):
    files = [SimpleUploadedFile("nodes.json", b"{}"), SimpleUploadedFile("pods.json.gz", gzip.compress(b"x" * 100))]

    response = owner_client.post("/api/v1/sessions/", {"file": files}, format="multipart")

    assert response.status_code == 201, response.content
    body = response.json()
    assert body["status"] == "importing"
    assert body["url"] == f"http://testserver/api/v1/sessions/{body['id']}/" == response["Location"]
    assert body["source"] == {"files": ["nodes.json", "pods.json.gz"]}
    assert [upload.name for upload in Upload.objects.order_by("file")] == ["nodes.json", "pods.json.gz"]


def test_the_release_of_files_without_a_version_is_stored_with_them_and_must_exist(owner_client):
    def made(release: str):
        file = SimpleUploadedFile("nodes.json", b"{}")
        return owner_client.post("/api/v1/sessions/", {"file": [file], "releaseWithoutVersion": release}, format="multipart")

    assert made("v1.36").json()["source"] == {"files": ["nodes.json"], "releaseWithoutVersion": "v1.36"}
    refused = made("v1.31")
    assert (refused.status_code, refused.json()["path"], refused.json()["expected"]) == (400, "releaseWithoutVersion", "v1.27.1 or v1.36")


# Another thread looks for the session, and drops the key of one that it does not see.
@pytest.mark.django_db(transaction=True)
def test_a_large_file_is_stored_in_rows_of_a_megabyte(owner_client):
    content = bytes(range(256)) * 4096 * 5 + b"rest"

    owner_client.post("/api/v1/sessions/", {"file": [SimpleUploadedFile("big.json", content)]}, format="multipart")

    rows = list(Upload.objects.order_by("number"))
    assert b"".join(StoredFiles(rows[0].session_id).chunks_of(0)) == content
    assert max(len(row.data) for row in rows) == 1 << 20


@pytest.mark.parametrize(
    "body",
    [
        {"generate": {"nodes": 4, "pods": 10}},
        {"generate": {}, "name": "mine"},
        {"trace": {"format": "schedviz-trace/1", "name": "mine", "steps": []}},
        {"generate": {}, "settings": {"seed": 7}},
        {"generate": {}, "policies": {"cache": "v1.14", "priorities": "v1.14", "preemption": "v1.18", "assumedPodTTLSeconds": 900}},
    ],
)
def test_a_generate_request_creates_a_session_at_once(owner_client, body):
    response = owner_client.post("/api/v1/sessions/", body, format="json")

    assert response.status_code == 201, response.content
    assert response.json()["status"] == "importing"


def test_policies_are_stored_with_the_settings(owner_client):
    body = {"generate": {}, "settings": {"seed": 7}, "policies": {"cache": "v1.14", "assumedPodTTLSeconds": 30}}

    made = owner_client.post("/api/v1/sessions/", body, format="json").json()

    kept = Session.objects.get(pk=made["id"]).settings
    assert kept == {"seed": 7, "policies": {"assumedPodTTLSeconds": 30.0, "cache": "v1.14"}}


def test_helpers_are_enabled_in_the_settings(owner_client):
    helpers = {"kubelet": True, "kubeletSeconds": 3, "pdbStatus": True}
    body = {"generate": {}, "settings": {"helpers": helpers}}
    wrong = {"generate": {}, "settings": {"helpers": {"kubelets": True}}}

    made = owner_client.post("/api/v1/sessions/", body, format="json").json()
    refused = owner_client.post("/api/v1/sessions/", wrong, format="json")

    assert Session.objects.get(pk=made["id"]).settings == {"helpers": helpers}
    assert refused.status_code == 400
    assert refused.json()["error"]["detail"]["path"] == "$.settings.helpers.kubelets"


def test_files_can_be_imported_with_policies(owner_client):
    body = {"file": SimpleUploadedFile("nodes.json", b"{}"), "policies": '{"preemption": "v1.18"}'}

    made = owner_client.post("/api/v1/sessions/", body, format="multipart").json()

    assert Session.objects.get(pk=made["id"]).settings == {"policies": {"preemption": "v1.18"}}


@pytest.mark.parametrize(
    ("policies", "path", "message"),
    [
        ({"cache": "v1.15"}, "cache", 'expected one of v1.14, v1.27, found "v1.15"'),
        ({"assumedPodTTLSeconds": -1}, "assumedPodTTLSeconds", "expected a number of at least 0, found -1"),
        ({"ttl": 3}, "ttl", "unknown field; there are assumedPodTTLSeconds, cache, priorities, preemption"),
        ({"priorities": [{"name": "Beauty"}]}, "priorities[0]", "there is no priority Beauty; there are BalancedResourceAllocation,"),
    ],
)
def test_policies_that_do_not_exist_are_refused(owner_client, policies, path, message):
    upload = {"file": SimpleUploadedFile("nodes.json", b"{}"), "policies": json.dumps(policies)}
    responses = {
        "$.policies": owner_client.post("/api/v1/sessions/", {"generate": {}, "policies": policies}, format="json"),
        "$.settings.policies": owner_client.post("/api/v1/sessions/", {"generate": {}, "settings": {"policies": policies}}, format="json"),
        "policies": owner_client.post("/api/v1/sessions/", upload, format="multipart"),
    }

    for prefix, response in responses.items():
        assert response.status_code == 400
        error = response.json()["error"]
        assert error["detail"]["path"] == f"{prefix}.{path}"
        assert error["message"].startswith(f"{prefix}.{path}: {message}")


CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
POD = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c"}]}}


@pytest.mark.parametrize(
    ("members", "path", "message"),
    [
        ({"format": "schedviz-trace/9"}, "format", 'expected "schedviz-trace/1", found "schedviz-trace/9"'),
        ({"steps": {}}, "steps", "expected a list, found an object"),
        ({"stops": []}, "stops", "unknown field; there are format, name,"),
        ({"tickMillis": "soon"}, "tickMillis", "expected a whole number, found"),
        ({"steps": [{"op": "cycle"}, {"op": "dance"}]}, "steps[1].op", "dance"),
        ({"steps": [{"op": "cycle", "fast": True}]}, "steps[0].fast", "unknown field"),
        ({"steps": [{"op": "pause"}]}, "steps[0].op", "the operation 'pause' is not available in a file"),
        ({"steps": [{"op": "delete", "kind": "Pud", "name": "web"}]}, "steps[0].kind", "the scheduler does not read the kind 'Pud'"),
        ({"steps": [{"op": "create", "object": POD | {"kind": "Pud"}}]}, "steps[0].object.kind", "Pud"),
        ({"steps": [{"op": "create", "object": POD | {"spec": {"tains": []}}}]}, "steps[0].object.spec.tains", "unknown field"),
    ],
)
def test_a_trace_that_cannot_run_is_refused_at_once(owner_client, people, members, path, message):
    trace = {"format": "schedviz-trace/1", "steps": [], **members}

    response = owner_client.post("/api/v1/sessions/", {"trace": trace}, format="json")

    assert response.status_code == 400, response.content
    error = response.json()["error"]
    assert error["detail"]["path"] == f"$.trace.{path}"
    assert message in error["message"]
    assert list(Session.objects.all()) == [people.session]


def test_a_configuration_gets_503_if_no_engine_worker_can_validate_it(owner_client, people):
    response = owner_client.post("/api/v1/sessions/", {"generate": {}, "settings": {"config": CONFIG}}, format="json")

    assert (response.status_code, response.json()["code"], response["Retry-After"]) == (503, "worker_unavailable", "2")
    assert f"no engine worker is running. Start one (`schedviz up` does, or `{WORKER_COMMANDS['engine']}`)" in response.json()["detail"]
    assert response.json()["path"] == "$.settings"
    assert list(Session.objects.all()) == [people.session]


def test_a_configuration_gets_503_while_redis_is_down(owner_client, people, redis_server):
    redis_server.kill()
    try:
        response = owner_client.post("/api/v1/sessions/", {"generate": {}, "settings": {"config": CONFIG}}, format="json")
    finally:
        redis_server.start()

    assert (response.status_code, response.json()["code"]) == (503, "worker_unavailable")
    assert list(Session.objects.all()) == [people.session]


def test_the_state_of_a_session_is_empty_during_its_import(owner_client):
    session = owner_client.post("/api/v1/sessions/", {"generate": {}}, format="json").json()

    state = owner_client.get(f"{session['url']}state/").json()

    assert state["status"] == "importing"
    assert state["cache"]["list"] == state["queue"]["activeQ"] == state["snapshot"]["nodeInfoList"] == []
    assert set(state["cache"]) == {"list", "assumedPods", "podStates", "nodeTree", "imageStates"}
    assert set(state["progress"]) == {"phase", "done", "total", "unit"}


def test_an_import_can_be_cancelled(owner_client):
    session = owner_client.post("/api/v1/sessions/", {"generate": {}}, format="json").json()

    Session.objects.filter(pk=session["id"]).update(epoch=1)

    assert owner_client.post(f"{session['url']}cancel/").status_code == 202
    assert Session.objects.get(pk=session["id"]).cancel_requested


def test_an_import_that_waits_for_a_worker_is_cancelled_at_once(owner_client):
    session = owner_client.post("/api/v1/sessions/", {"file": SimpleUploadedFile("a.json", b"{}")}, format="multipart").json()

    response = owner_client.post(f"{session['url']}cancel/")

    assert response.status_code == 202
    assert (response.json()["status"], response.json()["message"]) == ("failed", "The import was cancelled.")
    assert not Upload.objects.filter(session_id=session["id"]).exists()


def test_deleting_a_session_deletes_everything_about_it(owner_client, people):
    assert owner_client.delete(f"/api/v1/sessions/{people.session.pk}/").status_code == 204
    assert owner_client.get(f"/api/v1/sessions/{people.session.pk}/").status_code == 404
    assert not Session.objects.exists()


def test_a_list_has_pages(owner_client, people):
    Session.objects.bulk_create([Session(owner=people.owner, name=f"s{n}", status="ready") for n in range(7)])

    seen, query = [], {"limit": 3}
    while query:
        page = owner_client.get("/api/v1/sessions/", query).json()
        assert len(page["results"]) <= 3
        seen += [session["id"] for session in page["results"]]
        query = {"limit": 3, "after": page["next"]} if page["next"] else None

    assert len(seen) == len(set(seen)) == 8
    back = owner_client.get("/api/v1/sessions/", {"limit": 3, "before": page["previous"]}).json()
    assert [session["id"] for session in back["results"]] == seen[3:6]
    assert [session["id"] for session in owner_client.get("/api/v1/sessions/?tail=2").json()["results"]] == seen[6:]


def test_a_page_stays_in_place_while_sessions_are_created_and_deleted(owner_client, people):
    Session.objects.bulk_create([Session(owner=people.owner, name=f"s{n}", status="ready") for n in range(4)])
    whole = [session["id"] for session in owner_client.get("/api/v1/sessions/?sort=name").json()["results"]]

    first = owner_client.get("/api/v1/sessions/?sort=name&limit=2")
    Session.objects.filter(pk=whole[1]).delete()
    Session.objects.create(owner=people.owner, name="a", status="ready")
    link = re.search(r'<([^>]+)>; rel="next"', first["Link"])[1]

    assert [session["id"] for session in owner_client.get(link).json()["results"]] == whole[2:4]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "$"),
        ("x", "$"),
        ({}, "$"),
        ({"generate": {}, "trace": {}}, "$"),
        ({"generate": 3}, "$.generate"),
        ({"generate": {"nodes": "many"}}, "$.generate.nodes"),
        ({"generate": {"nodes": 0}}, "$.generate.nodes"),
        ({"generate": {"nodes": 10**9}}, "$.generate.nodes"),
        ({"generate": {"shape": "cube"}}, "$.generate.shape"),
        ({"trace": {"format": "x", "steps": []}}, "$.trace.format"),
        ({"trace": {"format": "schedviz-trace/1"}}, "$.trace.steps"),
        ({"generate": {}, "name": 5}, "$.name"),
        ({"generate": {}, "colour": "red"}, "$.colour"),
        ({"generate": {}, "settings": {"colour": "red"}}, "$.settings.colour"),
        ({"generate": {}, "settings": {"tick_millis": 1}}, "$.settings.tick_millis"),
        ({"generate": {}, "settings": {"tickMillis": -1}}, "$.settings.tickMillis"),
        ({"generate": {}, "settings": {"tickMillis": 10**30}}, "$.settings.tickMillis"),
        ({"generate": {}, "settings": {"config": 5}}, "$.settings.config"),
        ({"generate": {}, "name": "a\0b"}, "$.name"),
    ],
)
def test_a_bad_body_gets_400_and_its_path(owner_client, people, body, path):
    response = owner_client.post("/api/v1/sessions/", body, format="json")

    assert response.status_code == 400, response.content
    error = response.json()["error"]
    assert error["detail"]["path"] == path, error
    assert error["message"]
    assert Session.objects.count() == 1


@pytest.mark.parametrize(("setting", "limit"), [("UPLOAD_BYTES", 1000), ("UPLOAD_FILES", 1)])
def test_an_error_about_a_limit_names_it(owner_client, people, monkeypatch, setting, limit):
    monkeypatch.setattr(settings, setting, limit)
    files = [SimpleUploadedFile(f"{n}.json", b"x" * 600) for n in range(2)]

    response = owner_client.post("/api/v1/sessions/", {"file": files}, format="multipart")

    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert f"SCHEDVIZ_{setting}" in response.json()["detail"]


def test_an_error_about_too_many_files_names_the_limit(owner_client, people, monkeypatch):
    monkeypatch.setattr(settings, "DATA_UPLOAD_MAX_NUMBER_FILES", 1)
    files = [SimpleUploadedFile(f"{n}.json", b"{}") for n in range(2)]

    response = owner_client.post("/api/v1/sessions/", {"file": files}, format="multipart")

    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert response.json()["detail"].startswith("The request has more than 1,000 files (SCHEDVIZ_UPLOAD_FILES).")


def test_the_status_of_a_refused_file_does_not_depend_on_the_words_of_its_message(owner_client, people):
    content = gzip.compress(b'{"format":"schedviz-session/99"}\n')
    file = SimpleUploadedFile("More than 10 bytes.schedviz", content)

    response = owner_client.post("/api/v1/sessions/", {"file": [file]}, format="multipart")

    assert "More than 10 bytes" in response.json()["detail"]
    assert (response.status_code, response.json()["code"]) == (400, "invalid_source")
    assert Session.objects.count() == 1


def test_the_sessions_of_a_user_are_limited(owner_client, people, monkeypatch):
    monkeypatch.setattr(settings, "SESSIONS_PER_USER", 1)

    response = owner_client.post("/api/v1/sessions/", {"generate": {}}, format="json")

    assert response.status_code == 409
    assert "SCHEDVIZ_SESSIONS_PER_USER" in response.json()["error"]["message"]


def test_an_import_without_files_is_refused(owner_client):
    response = owner_client.post("/api/v1/sessions/", {"name": "x"}, format="multipart")

    assert response.status_code == 400
    assert response.json()["error"]["detail"]["path"] == "file"


def test_another_content_type_is_refused(owner_client):
    response = owner_client.post("/api/v1/sessions/", "a: b", content_type="application/yaml")

    assert response.status_code == 415
    assert response.json()["error"]["code"] == "unsupported_media_type"


def test_a_body_that_is_not_json_gets_400(owner_client):
    for body in (b"{", b"\xff\xfe", b"[" * 100_000):
        response = owner_client.post("/api/v1/sessions/", body, content_type="application/json")
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "bad_json"


def test_an_unknown_session_gets_404(owner_client):
    for rest in ("", "state/", "events/", "cycles/", "cycles/1/", "commands/1/"):
        response = owner_client.get(f"/api/v1/sessions/{uuid.uuid4()}/{rest}")
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("rest", ["cycles", "commands", "breakpoints"])
def test_a_number_too_large_for_the_database_gets_404(people, rest):
    owner = people.client("owner-token")

    for number in (1 << 62, 1 << 64, int("9" * 300)):
        assert owner.get(f"/api/v1/sessions/{people.session.pk}/{rest}/{number}/").status_code == 404


@pytest.mark.parametrize("address", ["/api/v1/sessions", "/api/v1/sessions/7/", "/api/v1/nothing/here/"])
def test_an_unknown_path_gets_404_as_json(owner_client, address):
    response = owner_client.get(address)

    assert response.status_code == 404
    assert response.json()["error"]["detail"]["hint"]


@pytest.mark.parametrize("query", ["?limit=x", "?limit=-1", "?after=1.5", "?after=" + "9" * 30, "?limit=²"])
def test_a_bad_number_in_the_query_gets_400(owner_client, people, query):
    for rest in ("", f"{people.session.pk}/events/", f"{people.session.pk}/cycles/"):
        response = owner_client.get(f"/api/v1/sessions/{rest}{query}")
        assert response.status_code == 400
        assert response.json()["error"]["detail"]["path"].startswith("?")


def test_settings_reach_the_engine_under_their_own_names(owner_client):
    response = owner_client.post("/api/v1/sessions/", {"generate": {}, "settings": {"tickMillis": 7, "seed": -1}}, format="json")

    assert response.status_code == 201, response.content
    assert Session.objects.get(pk=response.json()["id"]).settings == {"tick_millis": 7, "seed": -1}


@pytest.fixture
def three(owner_client):
    """Sessions called b, a and C, in this order, and no other; ids by name."""
    Session.objects.all().delete()
    made = {name: owner_client.post("/api/v1/sessions/", {"generate": {}, "name": name}, format="json").json()["id"] for name in "baC"}
    Session.objects.filter(name="a").update(status="ready", cycle=7)
    Session.objects.filter(name="b").update(status="ready", cycle=3, applied_seq=1, last_seq=2)
    return made


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["C", "a", "b"]),
        ("?sort=created", ["b", "a", "C"]),
        ("?sort=-cycles", ["a", "b", "C"]),
        ("?q=A", ["a"]),
        ("?status=running", ["b"]),
        ("?status=ready", ["a"]),
        ("?status=importing", ["C"]),
        ("?sort=-cycles&limit=1&offset=1", ["b"]),
    ],
)
def test_the_list_is_filtered_sorted_and_limited(owner_client, three, query, names):
    response = owner_client.get(f"/api/v1/sessions/{query}").json()

    assert [session["name"] for session in response["results"]] == names


def test_a_page_of_the_list_has_the_count_and_the_next_cursor(owner_client, three):
    first = owner_client.get("/api/v1/sessions/?limit=2&sort=name").json()
    second = owner_client.get("/api/v1/sessions/", {"limit": 2, "sort": "name", "after": first["next"]}).json()

    assert (first["count"], second["count"], second["next"]) == (3, 3, None)
    assert {session["id"] for session in [*first["results"], *second["results"]]} == set(three.values())


@pytest.mark.parametrize("query", ["?sort=colour", "?status=tired"])
def test_a_list_with_an_unknown_order_or_status_is_refused_with_the_known_ones(owner_client, query):
    response = owner_client.get(f"/api/v1/sessions/{query}")

    assert response.status_code == 400
    assert response.json()["error"]["detail"]["expected"]


def test_storage_of_sessions_is_listed_on_request(owner_client):
    content = b"{}" * 500
    owner_client.post("/api/v1/sessions/", {"file": [SimpleUploadedFile("a.json", content)]}, format="multipart")

    with_sizes = owner_client.get("/api/v1/sessions/?sizes=1&limit=1").json()["results"][0]
    without_sizes = owner_client.get("/api/v1/sessions/?limit=1").json()["results"][0]

    assert with_sizes["storedBytes"] == len(content) + OVERHEAD_BYTES
    assert without_sizes["storedBytes"] is None


def test_a_session_says_when_its_last_command_was_accepted(owner_client, people):
    address = f"/api/v1/sessions/{people.session.pk}/"
    before = owner_client.get(address).json()

    inbox.accept(people.session.pk, Pause(), "first")
    inbox.accept(people.session.pk, Pause(), "last")

    last = Command.objects.get(session=people.session, seq=2)
    after = owner_client.get(address).json()
    listed = owner_client.get("/api/v1/sessions/").json()["results"]
    assert before["lastCommandAt"] is None
    assert datetime.fromisoformat(after["lastCommandAt"]) == last.accepted_at
    assert [session["lastCommandAt"] for session in listed] == [after["lastCommandAt"]]


def test_a_session_has_its_current_numbers_of_nodes_and_pods(owner_client, people):
    Session.objects.filter(pk=people.session.pk).update(nodes=3, pods=7)

    body = owner_client.get(f"/api/v1/sessions/{people.session.pk}/").json()

    assert (body["nodes"], body["pods"]) == (3, 7)


def test_a_session_is_renamed_by_its_owner_alone(owner_client, people):
    renamed = people.client("owner").patch(f"/api/v1/sessions/{people.session.pk}/", {"name": "  Tuesday "}, format="json")

    assert renamed.json()["name"] == "Tuesday"
    assert people.client("editor").patch(f"/api/v1/sessions/{people.session.pk}/", {"name": "x"}, format="json").status_code == 403
    assert people.client("owner").patch(f"/api/v1/sessions/{people.session.pk}/", {"name": " "}, format="json").status_code == 400
