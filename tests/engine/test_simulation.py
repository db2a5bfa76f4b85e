"""A simulation runs commands, is interrupted, restarted and saved, without losing state."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.checkpointing.checkpoint import CheckpointError
from schedviz.engine.clock import SECOND
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.status import Code, Status
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.trace.commands import convert_command
from schedviz.trace.events import (
    BindingEnded,
    BindingStageEnded,
    CommandDone,
    Restarted,
    SchedulerExited,
    StageEnded,
    WatchDelivered,
    encode_events,
)
from schedviz.trace.fold import Fold
from tests.engine import clusters

do, four_nodes, node, pod = clusters.do, clusters.four_nodes, clusters.node, clusters.pod


def test_an_import_fills_cache_and_queue_without_recording_events() -> None:
    simulation = four_nodes(pod("bound", node_name="node1"), pod("done", node_name="node1", phase="Succeeded"), pod("b"), pod("a"))
    assert simulation.event == 0
    assert simulation.drain_events() == []
    state = simulation.observed_state()
    assert [item["name"] for item in state["cache"]["list"]] == ["node1", "node4", "node3", "node2"]
    assert list(state["cache"]["podStates"]) == ["default/bound"]
    assert [entry["pod"] for entry in state["queue"]["activeQ"]] == ["default/b", "default/a"]


def test_a_step_binds_and_confirms() -> None:
    simulation = four_nodes(pod("a"))
    outcome = do(simulation, "step")
    assert outcome.cycles == 1
    assert simulation.observed_state()["cache"]["podStates"]["default/a"]["assumed"] is False
    [summary] = simulation.drain_cycles()
    assert (summary.outcome, summary.node, summary.tied_nodes) == ("scheduled", "node1", 4)
    assert simulation.view().bindings == []


def test_a_step_with_an_empty_queue_reports_it() -> None:
    outcome = do(four_nodes(), "step")
    assert outcome.result == "activeQ is empty"
    assert outcome.stopped == "empty"


def test_stepping_by_stages_equals_a_whole_cycle() -> None:
    whole, staged = (four_nodes(pod("a"), pod("big", cpu="100"), pod("b")) for _ in range(2))
    do(whole, "run")
    stages = 0
    while not do(staged, "step", unit="stage").result:
        stages += 1
    assert stages > 30
    assert clusters.without_numbers(staged.drain_events()) == clusters.without_numbers(whole.drain_events())
    assert staged.observed_state() == whole.observed_state()


def test_changes_between_two_stages_reach_the_cache_and_not_the_snapshot() -> None:
    simulation = four_nodes(pod("a"))
    while simulation.view().cycle is None or simulation.view().cycle.next_stage != "PreScore":
        do(simulation, "step", unit="stage")
    do(simulation, "delete", kind="Node", name="node1")
    state = simulation.observed_state()
    assert "node1" not in [item["name"] for item in state["cache"]["list"]]
    assert "node1" in state["snapshot"]["nodeInfoList"]
    do(simulation, "step", unit="cycle")
    assert simulation.drain_cycles()[-1].node == "node1"


@pytest.mark.slow
def test_a_cycle_between_two_stages_survives_a_checkpoint() -> None:
    simulation = four_nodes(pod("a"), pod("big", cpu="100"))
    straight = four_nodes(pod("a"), pod("big", cpu="100"))
    for _ in range(60):
        do(straight, "step", unit="stage")
        do(simulation, "step", unit="stage")
        simulation.drain_events()
        saved = simulation.checkpoint()
        simulation = Simulation.restore(saved)
        assert simulation.checkpoint() == saved
        assert simulation.view() == straight.view()
    assert simulation.state_hash() == straight.state_hash()


def test_invalid_checkpoints_are_rejected() -> None:
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Simulation.restore(b"\x93\x01\x02\x03")


def test_an_interrupted_run_can_be_repeated_exactly() -> None:
    first, again = (four_nodes(*(pod(f"p{number}") for number in range(9))) for _ in range(2))
    command = convert_command({"op": "run"})
    first.start(command, seq=7)
    assert first.work(stop=lambda: first.cycle == 4) is None
    outcome = first.interrupt()
    assert (outcome.cycles, outcome.stopped) == (4, "paused")
    again.start(command, seq=7)
    assert again.work(until_event=outcome.event) == outcome
    assert encode_events(again.drain_events()) == encode_events(first.drain_events())


def test_the_last_event_of_a_command_is_command_done() -> None:
    simulation = four_nodes()
    simulation.start(convert_command({"op": "delete", "kind": "Node", "name": "nobody"}), seq=3)
    outcome = simulation.work()
    assert outcome is not None
    assert outcome.result == 'nodes "nobody" not found'
    done = simulation.drain_events()[-1]
    assert isinstance(done, CommandDone)
    assert (done.seq, done.op, done.result) == (3, "delete", outcome.result)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "10x"}}}]}}, "10x"),
        ({"kind": "Gadget", "metadata": {"name": "x"}}, "Gadget"),
        ({"kind": "Pod", "metadata": {"name": "x"}, "spec": {"containres": []}}, "containres"),
    ],
)
def test_a_bad_object_is_an_error_with_its_path_and_changes_nothing(made: dict[str, object], message: str) -> None:
    simulation = four_nodes()
    before = simulation.observed_state(), simulation.clock_seconds
    outcome = do(simulation, "create", object=made)
    assert message in outcome.error
    assert outcome.error.startswith("object")
    assert (simulation.observed_state(), simulation.clock_seconds) == before
    assert do(simulation, "create", object=node("node9")).error == ""


def test_a_latency_keeps_a_binding_unconfirmed_until_its_event_arrives() -> None:
    simulation = four_nodes(pod("a"))
    do(simulation, "latency", kind="Pod", seconds=2)
    do(simulation, "step")
    view = simulation.view()
    assert [(watch.verb, watch.key) for watch in view.api.in_flight] == [("MODIFIED", "default/a")]
    assert [binding.next_stage for binding in view.bindings] == ["Confirm"]
    assert view.cache.assumed_pods == ["default/a"]
    simulation.drain_events()
    do(simulation, "advance", to="next")
    assert simulation.clock_seconds == pytest.approx(view.api.in_flight[0].due_seconds)
    events = simulation.drain_events()
    assert [type(event) for event in events if isinstance(event, WatchDelivered | BindingEnded)] == [WatchDelivered, BindingEnded]
    assert simulation.view().cache.assumed_pods == []


def test_a_run_waits_for_pods_in_flight() -> None:
    simulation = four_nodes()
    do(simulation, "latency", kind="*", seconds=5)
    do(simulation, "create", object=pod("late"))
    assert simulation.observed_state()["queue"]["activeQ"] == []
    assert do(simulation, "run").cycles == 1


def test_a_restarted_scheduler_lists_again_and_forgets_what_it_assumed() -> None:
    simulation = four_nodes(pod("a"), pod("b"))
    fold = Fold(simulation.view())
    do(simulation, "step")
    do(simulation, "schedule")
    assert [binding.pod for binding in simulation.view().bindings] == ["default/b"]
    do(simulation, "restart")
    view = simulation.view()
    assert view.bindings == []
    assert [entry.pod for entry in view.queue.active_q] == ["default/b"]
    assert list(view.cache.pod_states) == ["default/a"]
    fold.apply_all(simulation.drain_events())
    assert fold.to_view() == view


def test_a_reset_goes_back_to_the_import() -> None:
    simulation = four_nodes(pod("a"), pod("b"))
    fold = Fold(simulation.view())
    first = simulation.observed_state()
    do(simulation, "latency", kind="Node", seconds=1)
    do(simulation, "create", object=node("extra"))
    do(simulation, "run")
    simulation = _drained_and_restored(simulation, fold)
    do(simulation, "reset")
    assert simulation.observed_state() == first
    assert simulation.view().api.in_flight == []
    assert simulation.view().api.latencies == {}
    fold.apply_all(simulation.drain_events())
    assert fold.to_view() == simulation.view()


def _drained_and_restored(simulation: Simulation, fold: Fold) -> Simulation:
    fold.apply_all(simulation.drain_events())
    return Simulation.restore(simulation.checkpoint())


@pytest.mark.parametrize("settings", [{"first_of_tied": False}, {"release": "v1.36", "random_of_tied": True}], ids=["v1.27.1", "v1.36"])
def test_a_tie_is_broken_by_the_seed_on_request(settings: dict[str, Any]) -> None:
    def winners(seed: int) -> list[str]:
        simulation = four_nodes(*(pod(f"p{number}", cpu="10m") for number in range(12)), seed=seed, **settings)
        do(simulation, "run", max=4)
        simulation.drain_events()
        simulation = Simulation.restore(simulation.checkpoint())
        do(simulation, "run")
        return [cycle.node for cycle in simulation.drain_cycles()]

    assert winners(1) == winners(1)
    assert len({tuple(winners(seed)) for seed in range(5)}) > 1


def test_the_scheduler_does_not_see_a_lost_watch_event() -> None:
    simulation = four_nodes()
    do(simulation, "create", object=pod("unseen"), drop="watch")
    do(simulation, "create", object=pod("unheard"), drop="handlers")
    assert simulation.observed_state()["queue"]["activeQ"] == []
    informers = simulation.scheduler.state.informers
    assert informers.by_key("Pod", "default/unseen") is None
    assert informers.by_key("Pod", "default/unheard") is not None
    assert simulation.cluster.store.count("Pod") == 2


def test_a_scheduler_that_exits_reports_why_and_needs_a_restart() -> None:
    simulation = four_nodes(pod("a", node_name="node1"))
    fold = Fold(simulation.view())
    outcome = do(simulation, "update", object=pod("a", node_name="node2"))
    assert "cache is corrupted" in outcome.result
    events = simulation.drain_events()
    [exited] = [event for event in events if isinstance(event, SchedulerExited)]
    assert "cache is corrupted" in exited.message
    fold.apply_all(events)
    assert fold.to_view() == simulation.view()
    simulation = Simulation.restore(simulation.checkpoint())
    assert "Restart it" in do(simulation, "run").result
    assert do(simulation, "create", object=pod("b")).result == ""
    assert do(simulation, "advance", seconds=5).result == ""
    assert simulation.observed_state()["queue"]["activeQ"] == []
    assert do(simulation, "restart").result == ""
    events = simulation.drain_events()
    [restarted] = [event for event in events if isinstance(event, Restarted)]
    assert "cache is corrupted" in restarted.reason
    fold.apply_all(events)
    assert fold.to_view() == simulation.view()
    assert do(simulation, "step").cycles == 1
    assert simulation.observed_state()["cache"]["podStates"]["default/a"]["node"] == "node2"


class _WaitsForFiveSeconds:
    name = "Waits"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:
        return Status(Code.WAIT), 5 * SECOND


def _with_permit(simulation: Simulation) -> Simulation:
    simulation.scheduler.state.profiles["default-scheduler"]._permit.append(_WaitsForFiveSeconds())
    return simulation


def test_a_pod_waits_at_permit_until_its_timeout() -> None:
    simulation = _with_permit(four_nodes(pod("a")))
    fold = Fold(simulation.view())
    do(simulation, "step")
    assert [binding.next_stage for binding in simulation.view().bindings] == ["WaitOnPermit"]
    simulation = _with_permit(_drained_and_restored(simulation, fold))
    do(simulation, "advance", to="next")
    assert simulation.clock_seconds == pytest.approx(5.001, abs=0.001)
    assert simulation.view().bindings == []
    state = simulation.observed_state()
    assert state["cache"]["podStates"] == {}
    assert [entry["pod"] for entry in state["queue"]["unschedulable"]] == ["default/a"]
    events = simulation.drain_events()
    [ended] = [event for event in events if isinstance(event, BindingEnded)]
    assert ended.message == "rejected due to timeout after waiting 5s at plugin Waits"
    stages = [event.stage for event in events if isinstance(event, BindingStageEnded)]
    assert stages == ["WaitOnPermit", "Unreserve", "ForgetPod", "HandleSchedulingFailure", "MoveAll"]
    fold.apply_all(events)
    assert fold.to_view() == simulation.view()


def test_a_waiting_pod_resumes_when_it_is_allowed() -> None:
    simulation = _with_permit(four_nodes(pod("a")))
    do(simulation, "step")
    [waiting] = simulation.scheduler.state.profiles["default-scheduler"].waiting_pods.all()
    waiting.allow("Waits")
    do(simulation, "advance", seconds=0)
    assert simulation.observed_state()["cache"]["podStates"]["default/a"]["assumed"] is False


def test_deleting_a_waiting_pod_frees_its_resources() -> None:
    simulation = _with_permit(four_nodes(pod("a")))
    do(simulation, "step")
    do(simulation, "delete", kind="Pod", name="a")
    assert simulation.view().bindings == []
    assert simulation.observed_state()["cache"]["podStates"] == {}


def test_a_pause_and_a_latency_of_an_unknown_kind_do_nothing() -> None:
    simulation = four_nodes()
    assert do(simulation, "pause").error == ""
    assert "Gadget" in do(simulation, "latency", kind="Gadget", seconds=1).error
    assert simulation.clock_seconds == 0


def test_a_cycle_can_be_recorded_in_full() -> None:
    simulation = four_nodes(pod("a"))
    simulation.records = "full"
    do(simulation, "step")
    record = simulation.last_cycle
    assert record is not None
    assert record["feasible"] == ["node1", "node2", "node3", "node4"]
    assert record["scores"]["NodeResourcesFit"]["raw"].keys() == set(record["feasible"])
    assert record["binding"]["confirmed"] is True


def test_every_recorded_stage_is_in_the_table_of_stages() -> None:
    simulation = four_nodes(pod("a"), pod("big", cpu="100"))
    do(simulation, "run")
    seen = {event.stage for event in simulation.drain_events() if isinstance(event, StageEnded)}
    assert seen <= SchedulingCycle.STAGES.keys()
    assert {"Pop", "Filter", "PostFilter", "SelectHost", "Assume"} <= seen


def test_a_second_command_waits_for_the_first() -> None:
    simulation = Simulation(SimulationSettings())
    simulation.start(convert_command({"op": "pause"}), seq=1)
    with pytest.raises(RuntimeError, match="command 1 has not ended"):
        simulation.start(convert_command({"op": "pause"}), seq=2)
