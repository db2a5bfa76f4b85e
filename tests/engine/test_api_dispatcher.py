"""The API dispatcher of v1.36 (gate SchedulerAsyncAPICalls): which calls are made, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.api_dispatcher import ApiDispatcher
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.status import StatusError
from schedviz.engine.instructions import AnyInstruction, BindPod, PatchPodStatus
from schedviz.kube.core import Pod, PodCondition
from schedviz.trace.events import ApiWritten
from schedviz.trace.recorder import Recorder

from .clusters import do, node, objects, pod

UNSCHEDULABLE = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")


class ApiServer:
    """Keeps the writes that it gets, and refuses them with `error`."""

    def __init__(self) -> None:
        self.writes: list[AnyInstruction] = []
        self.error: StatusError | None = None

    def carry_out(self, instruction: AnyInstruction) -> StatusError | None:
        self.writes.append(instruction)
        return self.error

    def find(self, kind: str, key: str) -> None: ...

    def update_object(self, instruction: Any) -> Any: ...


def _pod(name: str, **status: Any) -> Pod:
    made = pod(name)
    (obj,) = objects({**made, "metadata": {**made["metadata"], "uid": f"uid-{name}"}, "status": status})
    assert isinstance(obj, Pod)
    return obj


@pytest.fixture
def server() -> ApiServer:
    return ApiServer()


@pytest.fixture
def dispatcher(server: ApiServer) -> ApiDispatcher:
    return ApiDispatcher(server, Recorder())


def test_calls_are_made_in_the_order_in_which_they_were_added(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    first, second = _pod("a"), _pod("b")
    dispatcher.patch_pod_status(first, UNSCHEDULABLE, None)
    dispatcher.patch_pod_status(second, UNSCHEDULABLE, "n1")
    assert server.writes == []
    assert dispatcher.pending == [("pod_status_patch", "uid-a"), ("pod_status_patch", "uid-b")]

    dispatcher.dispatch()

    assert server.writes == [PatchPodStatus(first, UNSCHEDULABLE), PatchPodStatus(second, UNSCHEDULABLE, "n1")]
    assert dispatcher.pending == []


def test_a_second_patch_replaces_the_first_and_keeps_the_members_it_does_not_set(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    first, second = _pod("a"), _pod("b")
    dispatcher.patch_pod_status(first, UNSCHEDULABLE, None)
    dispatcher.patch_pod_status(second, UNSCHEDULABLE, None)
    dispatcher.patch_pod_status(first, None, "n1")
    dispatcher.dispatch()

    assert server.writes == [PatchPodStatus(first, UNSCHEDULABLE, "n1"), PatchPodStatus(second, UNSCHEDULABLE)]


def test_a_later_nomination_replaces_an_earlier_one(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    one = _pod("a")
    dispatcher.patch_pod_status(one, None, "n1")
    dispatcher.patch_pod_status(one, None, "n2")
    dispatcher.dispatch()

    assert server.writes == [PatchPodStatus(one, None, "n2")]


def test_a_binding_replaces_a_status_patch_of_its_pod(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    one = _pod("a")
    dispatcher.patch_pod_status(one, UNSCHEDULABLE, "n1")

    assert dispatcher.bind(one, "n1") is None
    assert server.writes == [BindPod(one, "n1")]


def test_a_binding_waits_for_the_calls_before_it_and_returns_only_its_own_error(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    other, one = _pod("a"), _pod("b")
    dispatcher.patch_pod_status(other, UNSCHEDULABLE, None)
    server.error = StatusError("the server is too busy")

    assert dispatcher.bind(one, "n1") == server.error
    assert server.writes == [PatchPodStatus(other, UNSCHEDULABLE), BindPod(one, "n1")]


@pytest.mark.parametrize(
    ("status", "condition", "nominated"),
    [
        ({}, None, None),
        ({}, None, ""),
        ({"nominatedNodeName": "n1"}, None, "n1"),
        ({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}]}, UNSCHEDULABLE, ""),
    ],
)
def test_a_patch_that_changes_nothing_is_not_made(
    status: dict[str, Any], condition: PodCondition | None, nominated: str | None, dispatcher: ApiDispatcher
) -> None:
    dispatcher.patch_pod_status(_pod("a", **status), condition, nominated)

    assert dispatcher.pending == []


def test_a_patch_that_undoes_a_pending_one_removes_it(dispatcher: ApiDispatcher) -> None:
    one = _pod("a")
    dispatcher.patch_pod_status(one, None, "n1")
    dispatcher.patch_pod_status(one, None, "")

    assert dispatcher.pending == []


def test_a_pending_patch_is_compared_with_the_newest_version_of_the_pod(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    dispatcher.patch_pod_status(_pod("a"), UNSCHEDULABLE, "n1")
    newer = _pod("a", nominatedNodeName="n2")
    dispatcher.sync(newer)
    dispatcher.dispatch()

    assert server.writes == [PatchPodStatus(newer, UNSCHEDULABLE, "n1")]


def test_a_pending_patch_with_equal_content_is_dropped(dispatcher: ApiDispatcher) -> None:
    dispatcher.patch_pod_status(_pod("a"), None, "n1")
    dispatcher.sync(_pod("a", nominatedNodeName="n1"))

    assert dispatcher.pending == []


def test_pending_calls_survive_a_checkpoint(server: ApiServer, dispatcher: ApiDispatcher) -> None:
    first, second = _pod("a"), _pod("b")
    dispatcher.patch_pod_status(first, UNSCHEDULABLE, "n1")
    dispatcher.patch_pod_status(second, None, "n2")
    table = ObjectTable()
    states = dispatcher.to_state(table)
    restored = ApiDispatcher(server, Recorder())
    restored.load(states, ObjectTable(state=table.to_state()))
    restored.dispatch()

    assert server.writes == [PatchPodStatus(first, UNSCHEDULABLE, "n1"), PatchPodStatus(second, None, "n2")]


def _simulation(**settings: Any) -> Simulation:
    simulation = Simulation(SimulationSettings(release="v1.36", feature_gates={"SchedulerAsyncAPICalls": True}, **settings))
    simulation.load(objects(node("n1", cpu="1"), pod("big", cpu="4")))
    return simulation


def _writes(simulation: Simulation) -> list[tuple[str, str, str]]:
    events = [event for event in simulation.drain_events() if isinstance(event, ApiWritten) and event.by_scheduler]
    return [(event.verb, event.key, event.subresource) for event in events]


def test_pending_calls_are_made_at_the_end_of_the_cycle() -> None:
    simulation = _simulation()
    do(simulation, "cycle")

    assert _writes(simulation) == [("patch", "default/big", "status")]


def test_held_calls_are_made_by_the_dispatch_command() -> None:
    simulation = _simulation(hold_dispatch=True)
    do(simulation, "cycle")
    assert _writes(simulation) == []
    simulation = Simulation.restore(simulation.checkpoint())

    assert do(simulation, "dispatch").result == ""
    assert _writes(simulation) == [("patch", "default/big", "status")]


def test_a_binding_makes_the_held_calls_too() -> None:
    simulation = _simulation(hold_dispatch=True)
    do(simulation, "create", object={"apiVersion": "v1", **pod("small")})
    do(simulation, "run")

    assert _writes(simulation) == [("patch", "default/big", "status"), ("create", "default/small", "binding")]


@pytest.mark.parametrize(
    ("release", "why"),
    [("v1.27.1", "v1.27.1 has no feature gate SchedulerAsyncAPICalls"), ("v1.36", "the feature gate SchedulerAsyncAPICalls is off")],
)
def test_dispatch_reports_that_the_scheduler_makes_its_calls_at_once(release: str, why: str) -> None:
    simulation = Simulation(SimulationSettings(release=release))

    assert do(simulation, "dispatch").result == f"the scheduler makes its API calls at once: {why}"


def test_a_session_with_only_held_calls_reports_how_to_continue() -> None:
    simulation = _simulation(hold_dispatch=True)
    do(simulation, "cycle")

    assert do(simulation, "cycle").result == "activeQ is empty; 1 API call is held: dispatch to go on"
