"""Asynchronous preemption of v1.36: a task that runs stage by stage while scheduling cycles go on."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.preemption_task import CLEAR_NOMINATIONS, EVICT_LAST_VICTIM, EVICT_VICTIMS, PreemptionTask
from schedviz.trace.events import ApiWritten, EventRecorded, PreemptionStageEnded, PreemptionStarted
from schedviz.trace.fold import Fold

from .clusters import do, node, objects, pod


def _held(*more: dict[str, Any], **settings: Any) -> Simulation:
    """A node full of `v1` and `v2`, which `p` is about to preempt."""
    simulation = Simulation(SimulationSettings(release="v1.36", hold_preemption=True, **settings))
    victims = [pod("v1", node_name="a", priority=1), pod("v2", node_name="a", priority=2)]
    simulation.load(objects(node("a", cpu="2"), *victims, pod("p", cpu="2", priority=10), *more))
    do(simulation, "cycle")
    simulation.drain_events()
    return simulation


def _task(simulation: Simulation) -> PreemptionTask:
    (task,) = simulation.scheduler.preemptions.running
    return task


def _advance(simulation: Simulation) -> None:
    scheduler = simulation.scheduler
    task = _task(simulation)
    scheduler.preemptions.advance(task, scheduler.state.profiles[task.profile], scheduler.state.queue.activate)


def _writes(simulation: Simulation) -> list[tuple[str, str]]:
    return [(event.verb, event.key) for event in simulation.drain_events() if isinstance(event, ApiWritten) and event.by_scheduler]


def _queues(simulation: Simulation) -> dict[str, list[str]]:
    view = simulation.view().queue
    return {
        "active": [entry.pod for entry in view.active_q],
        "backoff": [entry.pod for entry in view.backoff_q],
        "unschedulable": [entry.pod for entry in view.unschedulable],
    }


def test_the_cycle_ends_before_a_victim_is_evicted() -> None:
    simulation = _held()

    task = _task(simulation)
    assert (task.preemptor.key, task.node, task.stage) == ("default/p", "a", CLEAR_NOMINATIONS)
    assert [victim.key for victim in task.victims] == ["default/v2", "default/v1"]
    assert set(simulation.cluster.store.of_kind("Pod")) == {"default/p", "default/v1", "default/v2"}


def test_the_stages_evict_all_victims_but_the_last_and_then_the_last() -> None:
    simulation = _held()
    task = _task(simulation)
    seen = []
    while not task.has_ended:
        _advance(simulation)
        seen.append((task.stage, task.evicted, [key for verb, key in _writes(simulation) if verb == "delete"]))

    assert seen == [
        (EVICT_VICTIMS, 0, []),
        (EVICT_LAST_VICTIM, 1, ["default/v2"]),
        ("", 2, ["default/v1"]),
    ]
    assert simulation.scheduler.preemptions.running == []


def test_the_preemptor_is_gated_until_its_last_victim_is_deleted() -> None:
    simulation = _held()
    preemptions, uid = simulation.scheduler.preemptions, "default/p"
    gated = []
    task = _task(simulation)
    while task.stage != EVICT_LAST_VICTIM:
        gated.append(preemptions.is_running_for(uid))
        _advance(simulation)
    gated.append(preemptions.is_running_for(uid))
    do(simulation, "delete", kind="Pod", name="v1")

    assert gated == [True, True, True]
    assert not preemptions.is_running_for(uid)
    assert not preemptions.is_running_for("default/other")


def test_an_event_that_helps_the_preemptor_does_not_requeue_it_while_victims_are_evicted() -> None:
    simulation = _held()
    do(simulation, "create", object={"apiVersion": "v1", **node("b", cpu="8")})

    assert _queues(simulation) == {"active": [], "backoff": [], "unschedulable": ["default/p"]}
    (queued,) = simulation.view().queue.unschedulable
    assert (queued.gated, queued.gating_plugin) == (True, "DefaultPreemption")


def test_the_last_victim_s_deletion_requeues_the_preemptor_while_the_preemption_runs() -> None:
    simulation = _held()
    do(simulation, "create", object={"apiVersion": "v1", **node("b", cpu="1")})
    outcome = do(simulation, "preempt", deliver="during")

    assert outcome.result == ""
    assert _queues(simulation)["unschedulable"] == []


def test_a_failed_deletion_ends_the_preemption_and_activates_the_preemptor() -> None:
    simulation = _held()
    do(simulation, "preempt", fail="etcdserver: request timed out")

    assert _writes(simulation) == [("patch", "default/v2"), ("delete", "default/v2")]
    assert simulation.scheduler.preemptions.running == []
    assert _queues(simulation) == {"active": ["default/p"], "backoff": [], "unschedulable": []}


def test_nominations_of_lower_priority_are_cleared_before_a_victim_is_evicted() -> None:
    simulation = _held()
    do(simulation, "create", object={"apiVersion": "v1", **pod("mid", cpu="2", priority=5), "status": {"nominatedNodeName": "a"}})
    simulation.drain_events()
    _advance(simulation)

    assert _writes(simulation) == [("patch", "default/mid")]
    stored = simulation.cluster.store.get("Pod", "default/mid")
    assert stored is not None
    assert stored.status.nominated_node_name == ""  # type: ignore[attr-defined]  # a pod


def test_the_event_names_the_preemptor_by_its_uid_and_has_no_related_object() -> None:
    simulation = _held()
    do(simulation, "preempt")

    events = [event for event in simulation.drain_events() if isinstance(event, EventRecorded) and event.reason == "Preempted"]
    assert {(event.note, event.related) for event in events} == {("Preempted by pod default/p on node a", "")}


@pytest.mark.parametrize("advances", [0, 1, 2])
def test_a_checkpoint_can_be_taken_between_any_two_stages(advances: int) -> None:
    simulation = _held()
    for _ in range(advances):
        _advance(simulation)
    data = simulation.checkpoint()
    restored = Simulation.restore(data)

    assert restored.checkpoint() == data
    mine, theirs = _task(simulation), _task(restored)
    assert (theirs.stage, theirs.evicted, theirs.has_failed) == (mine.stage, mine.evicted, mine.has_failed)
    for each in (simulation, restored):
        do(each, "preempt")
        do(each, "run")
    assert restored.state_hash() == simulation.state_hash()


def test_a_preemption_runs_right_after_its_cycle_unless_it_is_held() -> None:
    simulation = Simulation(SimulationSettings(release="v1.36"))
    simulation.load(objects(node("a", cpu="2"), pod("v", cpu="2", node_name="a"), pod("p", cpu="2", priority=10)))
    do(simulation, "cycle")

    assert _writes(simulation) == [("patch", "default/p"), ("patch", "default/v"), ("delete", "default/v")]
    assert simulation.scheduler.preemptions.running == []


def test_without_the_feature_gate_the_victims_are_evicted_in_the_cycle() -> None:
    simulation = Simulation(SimulationSettings(release="v1.36", feature_gates={"SchedulerAsyncPreemption": False}))
    simulation.load(objects(node("a", cpu="2"), pod("v", cpu="2", node_name="a"), pod("p", cpu="2", priority=10)))
    do(simulation, "cycle")

    assert _writes(simulation) == [("patch", "default/v"), ("delete", "default/v"), ("patch", "default/p")]


def test_terminating_victims_are_not_evicted_again() -> None:
    simulation = Simulation(SimulationSettings(release="v1.36", hold_preemption=True))
    simulation.load(objects(node("a", cpu="2"), pod("v", cpu="2", node_name="a"), pod("p", cpu="2", priority=10)))
    do(simulation, "delete", kind="Pod", name="v", graceful=True)
    do(simulation, "cycle")

    assert simulation.scheduler.preemptions.running == []
    assert simulation.view().queue.nominated == {"a": ["default/p"]}


def _scripted(**rule: Any) -> dict[str, Any]:
    plugins = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    return {
        "profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": [{"pods": ["default/v"], **rule}]}}]}]
    }


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"point": "permit", "code": "Wait", "delaySeconds": 60}, "waiting on permit for pod: preempted"),
        ({"point": "preBind", "delaySeconds": 60}, 'running PreBind plugin "Scripted": preempted by DefaultPreemption'),
    ],
)
def test_a_victim_whose_binding_waits_goes_back_to_the_queue_without_an_api_call(rule: dict[str, Any], message: str) -> None:
    simulation = Simulation(SimulationSettings(release="v1.36", hold_preemption=True, config=_scripted(**rule)))
    simulation.load(objects(node("a", cpu="2"), pod("v", cpu="2")))
    do(simulation, "cycle")
    do(simulation, "create", object={"apiVersion": "v1", **pod("p", cpu="2", priority=10)})
    do(simulation, "cycle")
    simulation.drain_events()
    simulation = Simulation.restore(simulation.checkpoint())
    do(simulation, "preempt")

    events = [event for event in simulation.drain_events() if isinstance(event, EventRecorded | ApiWritten)]
    notes = [event.note for event in events if isinstance(event, EventRecorded)]
    assert notes == ["Preempted by pod default/p on node a (in kube-scheduler memory).", message]
    assert [event.key for event in events if isinstance(event, ApiWritten) and event.verb == "delete"] == []
    assert [entry.pod for entry in simulation.view().queue.error_backoff_q] == ["default/v"]


def test_a_victim_whose_binding_is_held_is_deleted() -> None:
    simulation = Simulation(SimulationSettings(release="v1.36"))
    simulation.load(objects(node("a", cpu="2"), pod("v", cpu="2")))
    do(simulation, "schedule")
    do(simulation, "create", object={"apiVersion": "v1", **pod("p", cpu="2", priority=10)})
    do(simulation, "cycle")

    assert set(simulation.cluster.store.of_kind("Pod")) == {"default/p"}


def test_a_restart_of_the_scheduler_drops_its_preemptions() -> None:
    simulation = _held()
    do(simulation, "restart")

    assert simulation.scheduler.preemptions.running == []
    assert do(simulation, "preempt").result == "no held preemption"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"release": "v1.27.1"}, "v1.27.1 has no feature gate SchedulerAsyncPreemption"),
        (
            {"release": "v1.36", "feature_gates": {"SchedulerAsyncPreemption": False}},
            "the feature gate SchedulerAsyncPreemption is off",
        ),
    ],
)
def test_preempt_reports_that_there_are_no_asynchronous_preemptions(settings: dict[str, Any], why: str) -> None:
    simulation = Simulation(SimulationSettings(**settings))

    assert do(simulation, "preempt").result == f"the scheduler evicts victims in its scheduling cycles: {why}"


def test_a_session_with_only_a_held_preemption_reports_how_to_continue() -> None:
    assert do(_held(), "cycle").result == "activeQ is empty; 1 preemption is held: preempt to go on"


def test_a_preemption_whose_profile_was_removed_still_ends() -> None:
    simulation = _held()
    do(simulation, "configure", config={"profiles": [{"schedulerName": "other"}]})
    do(simulation, "preempt")

    assert set(simulation.cluster.store.of_kind("Pod")) == {"default/p"}


def _folded_equals_engine(simulation: Simulation, fold: Fold) -> bool:
    fold.apply_all(simulation.drain_events())
    view = simulation.view()
    return (fold.to_view().preemptions, fold.to_view().api_calls) == (view.preemptions, view.api_calls)


def test_events_record_each_stage_and_fold_to_the_engines_view() -> None:
    simulation = _held(records_preemptions=True)
    fold = Fold(simulation.view())
    (preemption,) = simulation.view().preemptions
    assert (preemption.preemptor, preemption.node, preemption.cycle) == ("default/p", "a", 1)
    assert (preemption.victims, preemption.next_stage) == (["default/v2", "default/v1"], CLEAR_NOMINATIONS)

    notices = []
    while simulation.view().preemptions:
        _advance(simulation)
        notices += [event for event in simulation.recorder.pending if isinstance(event, PreemptionStageEnded)]
        assert _folded_equals_engine(simulation, fold)

    assert [(event.stage, event.victim, event.evicted, event.next_stage) for event in notices] == [
        (CLEAR_NOMINATIONS, "", 0, EVICT_VICTIMS),
        (EVICT_VICTIMS, "default/v2", 1, EVICT_LAST_VICTIM),
        (EVICT_LAST_VICTIM, "default/v1", 2, ""),
    ]
    assert {event.cycle for event in notices} == {1}


def test_a_failed_eviction_is_reported_with_its_error() -> None:
    simulation = _held(records_preemptions=True)
    do(simulation, "preempt", fail="etcdserver: request timed out")

    (ended,) = [event for event in simulation.drain_events() if isinstance(event, PreemptionStageEnded) and not event.next_stage]
    assert (ended.victim, ended.evicted, ended.error) == ("default/v2", 0, "etcdserver: request timed out")


def test_pending_api_calls_give_the_view_of_the_engine() -> None:
    settings = {"feature_gates": {"SchedulerAsyncAPICalls": True}, "hold_dispatch": True}
    simulation = _held(records_preemptions=True, **settings)
    fold = Fold(simulation.view())

    assert [(call.pod, call.type, call.nominated_node_name) for call in simulation.view().api_calls] == [
        ("default/p", "pod_status_patch", "a")
    ]
    do(simulation, "dispatch")
    assert _folded_equals_engine(simulation, fold)
    assert simulation.view().api_calls == []


def test_sessions_of_older_versions_number_their_events_without_preemptions() -> None:
    old, new = _held(), _held(records_preemptions=True)
    do(old, "preempt")
    do(new, "preempt")
    of_old, of_new = old.drain_events(), new.drain_events()

    kinds = (PreemptionStarted, PreemptionStageEnded)
    assert not any(isinstance(event, kinds) for event in of_old)
    assert [type(event) for event in of_new if not isinstance(event, kinds)] == [type(event) for event in of_old]
    assert old.view().preemptions == []


def test_a_restored_preemption_has_its_cycle() -> None:
    restored = Simulation.restore(_held(records_preemptions=True).checkpoint())

    assert [preemption.cycle for preemption in restored.view().preemptions] == [1]
