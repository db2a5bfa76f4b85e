"""Moments over REST: views, states, events and cycles of the past, and the timeline. The worker's part is done here."""

from __future__ import annotations

from contextlib import ExitStack
from uuid import uuid4

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.web.api import schemas
from schedviz.web.api.endpoints.state import state_body
from schedviz.web.api.shared_computations import MAX_STATES, STATES
from schedviz.web.server.waiting_requests import MAX_WAITING, requester, worker_waits
from tests.engine.clusters import do, node, objects, pod


@pytest.fixture
def past(people, commits):
    """A session with 5 chunks of 4 events."""
    for _ in range(5):
        commits.chunk(events=4)
    return people.client("viewer"), f"/api/v1/sessions/{people.session.pk}/"


def get(client, address, **query):
    response = client.get(address, query)
    assert response.status_code == 200, response.content
    return response.json()


def test_a_view_of_the_past_is_the_one_after_that_event(past, people):
    client, address = past

    result = get(client, address + "view/", at=6)

    assert (result["event"], result["chunk"], result["firstEvent"]) == (6, 1, 0)
    assert result["view"]["event"] == 6
    assert result["view"]["clockSeconds"] == 6.0


@pytest.mark.parametrize("query", [{}, {"at": 20}, {"at": 999}])
def test_the_newest_view_is_returned_without_a_moment_or_for_a_future_one(past, query):
    client, address = past

    assert get(client, address + "view/", **query)["event"] == 20
    assert get(client, address + "state/", **query)["event"] == 20


def test_a_state_of_the_past_has_its_event(past):
    client, address = past

    result = get(client, address + "state/", at=9)

    assert (result["event"], result["chunk"], result["clockSeconds"]) == (9, 2, 9.0)
    assert result["cache"]["list"] == []


def state_of(simulation):
    """The state of an engine in its API form, without a worker and a database."""
    session = Session(settings={"release": simulation.release.version})
    return state_body(session, reading.Moment(chunk=1, view=simulation.view()))


def simulated(*dicts, **settings):
    simulation = Simulation(SimulationSettings(**settings))
    simulation.load(objects(*dicts))
    return simulation


def bind_without_confirmation(release):
    """A state whose pod is bound, while the watch event of its binding is on the way."""
    simulation = simulated(node("node1"), pod("app"), release=release)
    do(simulation, "latency", kind="Pod", seconds=5)
    do(simulation, "cycle")
    return state_of(simulation)


@pytest.mark.parametrize(("release", "is_finished"), [("v1.27.1", True), ("v1.36", False)])
def test_an_assumed_pod_has_the_same_members_in_each_release(release, *, is_finished):
    state = bind_without_confirmation(release)

    assert [binding.next_stage for binding in state.bindings] == ["Confirm"]
    (assumed,) = state.cache["podStates"].values()
    assert assumed.keys() == {"pod", "node", "assumed", "bindingFinished", "deadlineSeconds"}
    assert (assumed["assumed"], assumed["bindingFinished"]) == (True, is_finished)


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
def test_an_image_counts_the_nodes_that_have_it(release):
    nodes = [node(f"node{number}") for number in (1, 2)]
    for one in nodes:
        one["status"]["images"] = [{"names": ["app:1"], "sizeBytes": 500}]
    state = state_of(simulated(*nodes, release=release))

    assert state.cache["list"][0]["imageStates"]["app:1"]["numNodes"] == 2


def test_a_state_has_what_its_release_knows_of_nodes_and_groups():
    featured = node("node1")
    featured["status"]["declaredFeatures"] = ["GuestSwap"]
    group = {"kind": "PodGroup", "metadata": {"name": "gang", "namespace": "default"}}
    gang = group | {"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}
    gates = {"GenericWorkload": True, "GangScheduling": True}
    member = pod("member", schedulingGroup={"podGroupName": "gang"})
    state = state_of(simulated(featured, gang, member, release="v1.36", feature_gates=gates))

    assert state.cache["list"][0]["declaredFeatures"] == ["GuestSwap"]
    assert state.cache["podGroups"]["default/gang"]["unscheduledPods"] == ["default/member"]
    documented = [(state.cache, schemas.CacheBody), (state.snapshot, schemas.SnapshotBody), (state.queue, schemas.QueueBody)]
    for members, struct in documented:
        assert members.keys() <= set(struct.__struct_encode_fields__)


def test_a_moment_is_refused_while_too_many_wait(past, people):
    client, address = past
    with ExitStack() as others:
        for _ in range(MAX_WAITING):
            requester.set(uuid4().hex)
            others.enter_context(worker_waits.slot())
        for _ in range(MAX_STATES):
            requester.set(uuid4().hex)
            others.enter_context(STATES.slot())
        response = client.get(address + "view/", {"at": 6})
        assert (response.status_code, response.json()["code"]) == (503, "busy")
        assert client.get(address + "view/").status_code == 200
        assert client.get(address + "state/").status_code == 200
        # So do long pages of cycles.
        assert client.get(address + "cycles/", {"limit": 200}).status_code == 200
        response = client.get(address + "cycles/?limit=201")
        assert (response.status_code, response.json()["code"]) == (503, "busy")
        # The newest state of a large session takes as long as one of the past.
        Session.objects.filter(pk=people.session.pk).update(nodes=500, pods=501)
        for large in (address + "view/", address + "state/"):
            response = client.get(large)
            assert (response.status_code, response.json()["code"]) == (503, "busy")
    for large in (address + "view/?at=6", address + "view/", address + "state/", address + "cycles/?limit=201"):
        assert client.get(large).status_code == 200


def test_a_moment_before_the_first_stored_one_gets_404_that_names_the_first(past, people):
    client, address = past
    reading.Checkpoint.objects.filter(session=people.session).update(event=4, chunk=1)

    response = client.get(address + "view/", {"at": 2})

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "history_unavailable"
    assert response.json()["error"]["detail"]["expected"] == "4 or more"


@pytest.mark.parametrize("at", ["x", "-1", "1.5", "²", "9" * 30])
def test_a_moment_that_is_not_a_number_gets_400(past, at):
    client, address = past

    for rest in ("view/", "state/"):
        response = client.get(address + rest, {"at": at})
        assert response.status_code == 400
        assert response.json()["error"]["detail"]["path"] == "?at"


@pytest.mark.parametrize(
    ("query", "numbers", "following", "previous"),
    [
        ({}, range(1, 21), None, None),
        ({"after": 3, "limit": 4}, range(4, 8), 7, 4),
        ({"before": 10, "limit": 3}, range(7, 10), 9, 7),
        ({"before": 3}, range(1, 3), 2, None),
        ({"tail": 5}, range(16, 21), None, 16),
        ({"after": 2, "before": 6}, range(3, 6), 5, 3),
        ({"before": 12, "tail": 2}, range(10, 12), 11, 10),
        ({"after": 20}, range(0), None, None),
    ],
)
def test_events_are_read_in_pages_from_either_end(past, query, numbers, following, previous):
    client, address = past

    result = get(client, address + "events/", **query)

    assert [event["event"] for event in result["results"]] == list(numbers)
    assert (result["next"], result["previous"], result["last"]) == (following, previous, 20)


def test_the_timeline_adds_up_events(past):
    client, address = past

    result = get(client, address + "timeline/", buckets=2)

    assert (result["from"], result["to"], result["firstEvent"]) == (0, 20, 0)
    assert [(one["firstEvent"], one["event"], one["clockSeconds"]) for one in result["buckets"]] == [(1, 8, 8.0), (9, 20, 20.0)]
    assert result["buckets"][0]["pods"] == {"activeQ": 0, "backoffQ": 0, "unschedulable": 0, "all": 0}
    assert get(client, address + "timeline/", **{"from": 8, "to": 12})["buckets"][0]["firstEvent"] == 9


def test_an_empty_session_has_no_buckets(people):
    result = get(people.client("viewer"), f"/api/v1/sessions/{people.session.pk}/timeline/")

    assert result == {"from": 0, "to": 0, "firstEvent": 0, "buckets": []}
