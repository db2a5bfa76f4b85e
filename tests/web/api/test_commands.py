"""Sending commands over REST."""

from __future__ import annotations

import threading

import pytest
from django.conf import settings
from django.db import connection

from schedviz.sessions.models import Command, Session
from tests.conftest import until

OUTCOME = {"result": "", "error": "", "cycles": 1, "event": 9, "clockSeconds": 0.5, "stopped": ""}


@pytest.fixture
def address(people, redis) -> str:
    return f"/api/v1/sessions/{people.session.pk}/commands/"


def test_an_accepted_command_has_a_number(owner_client, address):
    response = owner_client.post(address, {"key": "k", "op": "step", "unit": "cycle", "count": 2}, format="json")

    assert response.status_code == 202, response.content
    body = response.json()
    assert (body["seq"], body["key"], body["status"], body["outcome"]) == (1, "k", "waiting", None)
    assert body["command"] == {"op": "step", "count": 2}
    assert response["Location"] == body["url"] == f"http://testserver{address}1/"
    assert owner_client.get(f"{address}1/").json()["seq"] == 1


def test_the_same_idempotency_key_returns_the_same_command(owner_client, address):
    first = owner_client.post(address, {"key": "k", "op": "cycle"}, format="json").json()
    second = owner_client.post(address, {"key": "k", "op": "cycle"}, format="json")

    assert second.status_code == 202
    assert second.json() == first | {"duplicate": True}
    assert Command.objects.count() == 1


def test_the_same_idempotency_key_with_another_command_is_refused(owner_client, address):
    owner_client.post(address, {"key": "k", "op": "cycle"}, format="json")

    response = owner_client.post(address, {"key": "k", "op": "pause"}, format="json")

    assert response.status_code == 409
    assert response.json()["error"]["code"] == "key_reused"


def test_a_command_without_an_idempotency_key_gets_one(owner_client, address):
    first, second = (owner_client.post(address, {"op": "cycle"}, format="json").json() for _ in range(2))

    assert (first["seq"], second["seq"]) == (1, 2)
    assert first["key"] != second["key"]


def _object(kind: str, name: str = "one", **members: object) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": members.pop("labels", {})}, **members}


@pytest.mark.parametrize(
    ("obj", "path", "message"),
    [
        (_object("Pod", "Oops_1"), "metadata.name", "a lowercase RFC 1123 subdomain must consist of"),
        (_object("Node", "-node"), "metadata.name", "a lowercase RFC 1123 subdomain must consist of"),
        (_object("Namespace", "a.b"), "metadata.name", "a lowercase RFC 1123 label must consist of"),
        (_object("Service", "1a"), "metadata.name", "a DNS-1035 label must consist of"),
        (_object("Pod", "p" * 254), "metadata.name", "must be no more than 253 characters"),
        (_object("Node", labels={"a b": "c"}), "metadata.labels", "name part must consist of"),
        (_object("Node", labels={"zone": "a/b"}), "metadata.labels[zone]", "a valid label must be"),
        (_object("Node", spec={"taints": [{"key": "x y", "effect": "NoSchedule"}]}), "spec.taints[0].key", "name part must consist of"),
        (
            _object("DeviceTaintRule", apiVersion="resource.k8s.io/v1beta2", spec={"taint": {"key": "x y", "effect": "NoSchedule"}}),
            "spec.taint.key",
            "name part must consist of",
        ),
        (_object("Pod", spec={"nodeSelector": {"disk": "s d"}}), "spec.nodeSelector[disk]", "a valid label must be"),
        (_object("Pod", spec={"containers": [{"name": "A", "image": "i"}]}), "spec.containers[0].name", "a lowercase RFC 1123 label"),
    ],
)
def test_names_that_an_api_server_would_reject_are_refused_with_their_path(owner_client, address, obj, path, message):
    response = owner_client.post(address, {"op": "create", "object": obj}, format="json")
    together = owner_client.post(f"{address}together/", {"commands": [{"op": "create", "object": obj}]}, format="json")

    assert response.status_code == together.status_code == 400
    assert response.json()["path"] == f"$.object.{path}"
    assert response.json()["detail"].startswith(f"$.object.{path}: Invalid value: ")
    assert message in response.json()["detail"]


def test_an_object_that_was_imported_with_another_name_can_be_changed(owner_client, address):
    changed = owner_client.post(address, {"op": "update", "object": _object("Node", "Oops_1")}, format="json")

    assert changed.status_code == 202, changed.content


@pytest.mark.django_db(transaction=True)
def test_prefer_wait_waits_for_the_outcome(owner_client, address):
    def work() -> None:
        until(lambda: Command.objects.update(outcome=OUTCOME) > 0)
        connection.close()

    thread = threading.Thread(target=work)

    thread.start()
    response = owner_client.post(address, {"op": "cycle"}, format="json", headers={"Prefer": "wait=20"})
    thread.join()

    assert response.status_code == 200
    assert response["Preference-Applied"] == "wait=20"
    assert response.json()["outcome"] == {**OUTCOME, "breakpoint": None, "breakpointEvent": None}
    assert response.json()["status"] == "done"


def test_prefer_wait_ends_after_its_time(owner_client, address):
    response = owner_client.post(address, {"op": "cycle"}, format="json", headers={"Prefer": "respond-async, wait=0.1"})

    assert response.status_code == 202
    assert response.json()["status"] == "waiting"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$.op"),
        ({"op": "fly"}, "$.op"),
        ({"op": "step", "count": 0}, "$.count"),
        ({"op": "step", "unit": "week"}, "$.unit"),
        ({"op": "create"}, "$.object"),
        ({"op": "cycle", "extra": 1}, "$.extra"),
        ({"op": "create", "object": {"kind": "Pod"}, "drop": "all"}, "$.drop"),
        ({"op": "pause", "key": 5}, "$.key"),
        ({"op": "delete", "kind": "Secret", "name": "s"}, "$.kind"),
        ({"op": "latency", "kind": "Secret", "seconds": 1}, "$.kind"),
        ({"op": "advance"}, "$.seconds"),
        ([], "$"),
    ],
)
def test_a_bad_command_gets_400_and_its_path(owner_client, address, body, path):
    response = owner_client.post(address, body, format="json")

    assert response.status_code == 400, response.content
    assert response.json()["error"]["detail"]["path"] == path
    assert Command.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"op": "stepp"}, "$.op: expected one of advance, bind, bind_fail, configure, confirm, "),
        ({"op": "step", "unit": "week"}, '$.unit: expected one of cycle, mutation, stage, found "week"'),
        ({"op": "step", "units": "cycle"}, "$.units: unknown field; there are unit, count"),
        ({"op": "step", "count": 10**9}, "$.count: expected a whole number of at most 1000000, found 1000000000"),
        ({"op": "step", "count": "2"}, '$.count: expected a whole number, found "2"'),
        ({"op": "advance", "seconds": -1}, "$.seconds: expected a number of at least 0, found -1"),
        ({"op": "run", "rate": 0}, "$.rate: expected a number of more than 0, found 0"),
        ({"op": "bind", "pod": ""}, '$.pod: expected a string of a length of at least 1, found ""'),
        ({"op": "delete", "kind": "Pod"}, "$.name: expected a value, found nothing"),
        (
            {"op": "create", "object": {"kind": "Secret"}},
            "$.object.kind: the scheduler does not read the kind 'Secret'; it reads CSIDriver",
        ),
    ],
)
def test_a_bad_command_gets_an_error_with_what_was_expected(owner_client, address, body, message):
    response = owner_client.post(address, body, format="json")

    assert response.status_code == 400, response.content
    assert response.json()["error"]["message"].startswith(message)


@pytest.mark.parametrize("levels", [101, 500, 700])
def test_a_command_that_is_nested_too_deep_is_refused(owner_client, address, levels):
    deep = b"[" * levels + b"]" * levels
    for body in (b'{"op":"create","object":{"kind":"Pod","a":%s}}' % deep, b'{"op":"configure","config":{"a":%s}}' % deep):
        response = owner_client.generic("POST", address, body, content_type="application/json")

        assert response.status_code == 400, response.content
        assert response.json()["detail"] == "$: lists and objects are nested deeper than 100 levels, which is the limit"
    assert Command.objects.count() == 0


@pytest.mark.parametrize("body", [b'{"op":"st\xffep"}', b"\xff\xfe", b'{"op":', b"[" * 100_000, b'{"op":"step","count":NaN}'])
def test_a_body_that_is_not_json_is_refused(owner_client, address, body):
    response = owner_client.generic("POST", address, body, content_type="application/json")

    assert response.status_code == 400, response.content
    assert response.json()["error"]["code"] == "bad_json"


def test_a_bad_object_gets_400_and_the_path_in_it(owner_client, address):
    requests = {"requests": {"cpu": "10x"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": requests}]}}

    response = owner_client.post(address, {"op": "create", "object": pod}, format="json")

    assert response.status_code == 400, response.content
    assert "spec.containers[0].resources.requests" in response.json()["error"]["detail"]["path"]
    assert Command.objects.count() == 0


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_bad_key_is_refused(owner_client, address, key):
    response = owner_client.post(address, {"op": "cycle", "key": key}, format="json")

    assert response.status_code == 400
    assert response.json()["error"]["detail"]["path"] == "$.key"


def test_a_failed_session_accepts_no_commands(owner_client, address):
    Session.objects.update(status="failed", message="broken")

    response = owner_client.post(address, {"op": "cycle"}, format="json")

    assert response.status_code == 409
    assert "broken" in response.json()["error"]["message"]


def test_too_many_waiting_commands_get_429(owner_client, address, monkeypatch):
    monkeypatch.setattr(settings, "COMMANDS_WAITING", 2)

    responses = [owner_client.post(address, {"op": "cycle"}, format="json") for _ in range(4)]

    assert responses[-1].status_code == 429
    assert responses[-1]["Retry-After"]
    assert "COMMANDS_WAITING" in responses[-1].json()["error"]["message"]


def test_a_command_is_accepted_while_redis_is_down(owner_client, people):
    response = owner_client.post(f"/api/v1/sessions/{people.session.pk}/commands/", {"op": "cycle"}, format="json")

    assert response.status_code == 202


def _large_object(size: int) -> dict[str, object]:
    return _object("Node", spec={"taints": [{"key": f"key-{number}", "effect": "NoSchedule"} for number in range(size // 40)]})


def test_a_page_of_commands_ends_after_4_mib_and_links_to_the_next_page(owner_client, address):
    big = {"op": "create", "object": _large_object(1_400_000)}
    for number in range(5):
        sent = owner_client.post(address, {"key": f"k{number}", **big}, format="json")
        assert sent.status_code == 202, sent.content[:300]

    pages = [owner_client.get(f"{address}?limit=1000&after={after}") for after in (0, 2, 4)]
    last = owner_client.get(f"{address}?tail=1000").json()

    assert max(len(page.content) for page in pages) < 5_000_000
    assert [[one["seq"] for one in page.json()["results"]] for page in pages] == [[1, 2], [3, 4], [5]]
    assert [(page.json()["previous"], page.json()["next"]) for page in pages] == [(None, 2), (3, 4), (5, None)]
    assert 'rel="next"' in pages[0]["Link"]
    assert ([one["seq"] for one in last["results"]], last["previous"]) == ([4, 5], 4)
    assert pages[0].json()["results"][0]["command"]["object"]["spec"]["taints"][0] == {"key": "key-0", "effect": "NoSchedule"}


def test_a_stored_command_larger_than_a_page_has_a_page_to_itself(owner_client, people, address):
    owner_client.post(address, {"op": "cycle"}, format="json")
    body = b'{"op":"configure","config":{"a":"' + b"x" * (5 << 20) + b'"}}'
    Command.objects.filter(session=people.session).update(body=body)
    owner_client.post(address, {"op": "cycle"}, format="json")

    pages = [owner_client.get(f"{address}?after={after}").json() for after in (0, 1)]

    assert [[one["seq"] for one in page["results"]] for page in pages] == [[1], [2]]
    assert len(pages[0]["results"][0]["command"]["config"]["a"]) == 5 << 20


@pytest.mark.parametrize(
    "large", [{"op": "create", "object": _large_object(1_700_000)}, {"op": "configure", "config": {"a": "x" * 1_600_000}}]
)
def test_a_command_of_more_than_one_and_a_half_mib_is_refused(owner_client, address, large):
    alone = owner_client.post(address, large, format="json")
    together = owner_client.post(f"{address}together/", {"commands": [{"op": "cycle"}, large]}, format="json")

    for response in (alone, together):
        assert response.status_code == 400
        assert "1,572,864" in response.json()["detail"]
        assert "as for an object in etcd" in response.json()["detail"]
    assert alone.json()["path"] == ("$.object" if "object" in large else "$.config")
    assert Command.objects.count() == 0


def test_a_repeated_batch_returns_the_same_commands(owner_client, address):
    for key in ("first", "other", "second"):
        owner_client.post(address, {"key": key, "op": "cycle"}, format="json")

    again = owner_client.post(
        f"{address}together/", {"commands": [{"key": key, "op": "cycle"} for key in ("second", "first")]}, format="json"
    )

    assert again.status_code == 202, again.content
    assert [(one["key"], one["seq"]) for one in again.json()["results"]] == [("second", 3), ("first", 1)]
