"""The complete path: a file over REST, real workers, frames over the WebSocket; the folded frames equal the REST view."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import httpx
import msgspec
import pytest

from schedviz.trace import observed
from schedviz.trace.events import AnyEvent
from schedviz.trace.fold import Fold
from schedviz.trace.view import View
from schedviz.web.auth.login import make_token

pytestmark = pytest.mark.django_db(transaction=True)


def _node(name: str) -> dict:
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": capacity, "allocatable": capacity}}


def _pod(name: str) -> dict:
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container]}}


DUMP = {"apiVersion": "v1", "kind": "List", "items": [_node(f"node{n}") for n in range(4)] + [_pod(f"pod{n}") for n in range(20)]}


def until(what: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def script(web_server, people, engine_worker, io_worker):
    """A REST client with a token, as scripts use it."""
    headers = {"Authorization": f"Bearer {make_token(people.owner, 'script')}"}
    with httpx.Client(base_url=f"http://{web_server.netloc}/api/v1/", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture
def imported(script, people) -> dict:
    """A session of four nodes and twenty pods, of which sixteen fit."""
    response = script.post("sessions/", files=[("file", ("cluster.json", json.dumps(DUMP).encode()))])
    assert response.status_code == 201, response.text
    session = response.json()
    until(lambda: script.get(session["url"]).json()["status"] != "importing")
    session = script.get(session["url"]).json()
    assert session["status"] == "ready", session["message"]
    people.session.pk = session["id"]
    return session


def add_up(socket, *, upto: int) -> View:
    """The view that a viewer has after an event."""
    message = socket.receive()
    while message["type"] != "view":
        message = socket.receive()
    fold = Fold(msgspec.convert(message["view"], View))
    while fold.event < upto:
        message = socket.receive(20)
        if message["type"] == "view":
            fold = Fold(msgspec.convert(message["view"], View))
        elif message["type"] == "frame":
            for event in msgspec.convert(message["events"], list[AnyEvent]):
                if event.event > fold.event:
                    assert event.event == fold.event + 1
                    fold.apply(event)
    return fold.to_view()


def test_the_frames_fold_to_the_state_that_rest_returns(script, imported, viewer, people):
    with viewer(people) as socket:
        for number in range(3):
            socket.send({"type": "command", "key": f"s{number}", "command": {"op": "step", "unit": "cycle"}})
        until(lambda: script.get(imported["url"]).json()["lastSeq"] == 3)
        response = script.post(f"{imported['url']}commands/", json={"op": "run"}, headers={"Prefer": "wait=20"})
        outcome = response.json()["outcome"]
        view = add_up(socket, upto=outcome["event"])

    assert response.status_code == 200
    assert (outcome["error"], outcome["stopped"], outcome["cycles"]) == ("", "empty", 17)
    state = script.get(f"{imported['url']}state/").json()
    assert state["event"] == view.event
    assert {name: state[name] for name in ("cache", "snapshot", "queue")} == observed.state(view)
    assert len(state["queue"]["unschedulable"]) + len(state["queue"]["backoffQ"]) == 4
    assert sum(len(item["pods"]) for item in state["cache"]["list"]) == 16


def test_a_cycle_is_returned_in_full_in_part_or_as_a_summary(script, imported):
    script.post(f"{imported['url']}commands/", json={"op": "run", "max": 2}, headers={"Prefer": "wait=20"})

    whole = script.get(f"{imported['url']}cycles/2/").json()
    summary = script.get(f"{imported['url']}cycles/2/?detail=0").json()
    part = script.get(f"{imported['url']}cycles/2/?nodes=node1&plugins=NodeResourcesFit").json()
    listed = script.get(f"{imported['url']}cycles/").json()

    assert whole["outcome"] == summary["outcome"] == "scheduled"
    assert whole["node"] == summary["node"]
    assert set(whole["totals"]) == {"node0", "node1", "node2", "node3"}
    assert set(part["totals"]) == {"node1"}
    assert set(part["scores"]) == {"NodeResourcesFit"}
    assert part["binding"] == whole["binding"]
    assert [cycle["cycle"] for cycle in listed["results"]] == [1, 2]
    assert script.get(f"{imported['url']}cycles/99/").status_code == 404


def test_events_have_pages_without_gaps(script, imported):
    script.post(f"{imported['url']}commands/", json={"op": "run"}, headers={"Prefer": "wait=20"})

    seen, after = [], 0
    while after is not None:
        page = script.get(f"{imported['url']}events/?after={after}&limit=50").json()
        seen += [event["event"] for event in page["results"]]
        after = page["next"]

    assert seen == list(range(1, page["last"] + 1))


def test_a_failed_import_says_where(script, people):
    bad = _pod("p")
    bad["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "10x"
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": [bad]}).encode()

    session = script.post("sessions/", files=[("file", ("bad.json", data))]).json()
    until(lambda: script.get(session["url"]).json()["status"] != "importing")
    session = script.get(session["url"]).json()

    assert session["status"] == "failed"
    assert "bad.json" in session["message"]
    assert "items[0].spec.containers[0].resources.requests" in session["message"]
    assert script.post(f"{session['url']}commands/", json={"op": "cycle"}).status_code == 409


def test_healthz_reports_that_everything_is_up(web_server, engine_worker, io_worker):
    # Each test starts with an empty Redis; workers send a heartbeat every second.
    until(lambda: httpx.get(f"http://{web_server.netloc}/healthz").status_code == 200)


def _busy(name: str, node: str = "", priority: int = 0) -> dict:
    pod = _pod(name)
    pod["spec"] |= {"priority": priority} | ({"nodeName": node} if node else {})
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
    return pod


def test_the_state_of_v1_36_has_what_only_that_release_has(script):
    trace = {"format": "schedviz-trace/1", "release": "v1.36", "holdPreemption": True, "steps": []}
    response = script.post("sessions/", json={"name": "held", "trace": trace}, headers={"Prefer": "wait=20"})
    url = response.json()["url"]
    made = [{"op": "create", "object": each} for each in (_node("node0"), _busy("low", "node0"), _busy("high", priority=9))]
    script.post(f"{url}commands/together/", json={"commands": [*made, {"op": "cycle"}]}, headers={"Prefer": "wait=20"})
    held = script.get(f"{url}state/").json()
    script.post(f"{url}commands/", json={"op": "preempt"}, headers={"Prefer": "wait=20"})
    begun = {"commands": [{"op": "step", "unit": "stage", "count": 3}, {"op": "create", "object": _node("node1")}]}
    script.post(f"{url}commands/together/", json=begun, headers={"Prefer": "wait=20"})
    in_flight = script.get(f"{url}state/").json()

    (preemption,) = held["preemptions"]
    assert (preemption["preemptor"], preemption["node"], preemption["victims"]) == ("default/high", "node0", ["default/low"])
    (waits,) = held["queue"]["unschedulable"]
    assert (waits["pod"], waits["pendingPlugins"], waits["unschedulableCount"]) == ("default/high", [], 1)
    assert (held["queue"]["errorBackoffQ"], held["queue"]["inFlightPods"], held["apiCalls"]) == ([], [], [])
    assert in_flight["preemptions"] == []
    assert in_flight["queue"]["inFlightPods"] == ["default/high"]
    assert in_flight["queue"]["inFlightEvents"] == [{"pod": "default/high"}, {"event": "NodeAdd", "old": None, "new": "Node node1"}]
