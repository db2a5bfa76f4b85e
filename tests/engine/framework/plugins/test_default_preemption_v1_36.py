"""DefaultPreemption of v1.36: which nodes are candidates, which pods are victims, and what it says."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.framework.types import GVK, ActionType, QueueingHint
from tests.engine import clusters

do, node, objects, pod = clusters.do, clusters.node, clusters.objects, clusters.pod


def _cycle(*existing: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """The record of the cycle of the only pending pod."""
    simulation = Simulation(SimulationSettings(release="v1.36", hold_preemption=True, **settings))
    simulation.load(objects(*existing))
    simulation.records = "full"
    do(simulation, "cycle")
    record: dict[str, Any] | None = simulation.last_cycle
    assert record is not None
    return record


def _plugin(**gates: bool) -> Any:
    simulation = Simulation(SimulationSettings(release="v1.36", feature_gates=gates))
    return simulation.scheduler.state.profiles["default-scheduler"].plugins.by_name["DefaultPreemption"]


def _labelled(made: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**made, "metadata": {**made["metadata"], "labels": labels}}


def _budget(allowed: int, **labels: str) -> dict[str, Any]:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "budget", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


def test_a_successful_preemption_adds_nothing_to_the_message() -> None:
    record = _cycle(node("a", cpu="2"), pod("v", cpu="2", node_name="a"), pod("p", cpu="2", priority=10))

    assert record["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    assert record["nominating"] == {"mode": "override", "nominatedNodeName": "a"}
    assert record["postFilter"]["victims"] == ["default/v"]


def test_nodes_that_preemption_cannot_help_are_counted_without_a_dry_run() -> None:
    record = _cycle(node("small", cpu="1"), node("full", cpu="2"), pod("v", cpu="2", node_name="full", priority=5), pod("p", cpu="2"))

    assert record["postFilter"]["reasons"] == [
        "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    ]
    assert record["nominating"] == {"mode": "override", "nominatedNodeName": ""}


def test_a_node_that_was_not_evaluated_is_no_candidate() -> None:
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}  # fmt: skip
    record = _cycle(
        node("a", cpu="2"),
        node("b", cpu="2"),
        pod("on-a", cpu="2", node_name="a", priority=3),
        pod("on-b", cpu="2", node_name="b"),
        pod("p", cpu="2", priority=10, affinity={"nodeAffinity": affinity}),
    )

    assert [candidate["node"] for candidate in record["postFilter"]["candidates"]] == ["a"]


def test_a_pod_that_never_preempts_keeps_its_nomination() -> None:
    record = _cycle(node("a", cpu="2"), pod("v", cpu="2", node_name="a"), pod("p", cpu="2", priority=10, preemptionPolicy="Never"))

    assert record["postFilter"]["reasons"] == ["preemption: not eligible due to preemptionPolicy=Never."]
    assert record["nominating"] is None


def test_a_pod_waits_for_a_victim_that_terminates_on_its_node() -> None:
    victim = pod("v", cpu="2", node_name="a")
    victim["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    victim["status"] = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
    waiting = {**pod("p", cpu="2", priority=10), "status": {"nominatedNodeName": "a"}}
    record = _cycle(node("a", cpu="2"), victim, waiting)

    assert record["postFilter"]["reasons"] == ["preemption: not eligible due to a terminating pod on the nominated node."]


def test_victims_are_in_order_of_importance_whether_a_budget_protects_them_or_not() -> None:
    guarded = _labelled(pod("guarded", node_name="a", priority=1), app="x")
    record = _cycle(
        node("a", cpu="2"),
        _budget(0, app="x"),
        guarded,
        pod("free", node_name="a", priority=2),
        pod("p", cpu="2", priority=10),
    )

    (candidate,) = record["postFilter"]["candidates"]
    assert candidate == {"node": "a", "numPDBViolations": 1, "victims": ["default/free", "default/guarded"]}


def test_a_protected_pod_is_reprieved_before_a_more_important_one() -> None:
    record = _cycle(
        node("a", cpu="2"),
        _budget(0, app="x"),
        _labelled(pod("guarded", node_name="a", priority=1), app="x"),
        pod("free", node_name="a", priority=2),
        pod("p", cpu="1", priority=10),
    )

    assert record["postFilter"]["victims"] == ["default/free"]


def test_a_deleted_pod_rechecks_the_gate_but_does_not_requeue() -> None:
    plugin = _plugin()
    (registered,) = plugin.events_to_register()

    assert (registered.event.resource, registered.event.action_type) == (GVK.POD, ActionType.DELETE)
    assert registered.queueing_hint_fn(None, None, None) is QueueingHint.QUEUE_SKIP


def test_without_asynchronous_preemption_no_event_is_registered_and_no_pod_gated() -> None:
    plugin = _plugin(SchedulerAsyncPreemption=False)

    assert plugin.events_to_register() == ()


def test_the_status_of_a_waiting_preemptor_names_the_preemption() -> None:
    simulation = Simulation(SimulationSettings(release="v1.36", hold_preemption=True))
    simulation.load(objects(node("a", cpu="2"), pod("v", cpu="2", node_name="a"), pod("p", cpu="2", priority=10)))
    do(simulation, "cycle")
    state = simulation.scheduler.state
    preemptor = simulation.scheduler.preemptions.running[0].preemptor
    plugin: Any = state.profiles["default-scheduler"].plugins.by_name["DefaultPreemption"]

    status = plugin.pre_enqueue(preemptor.pods[0])
    assert (status.code.value, status.message) == (
        "UnschedulableAndUnresolvable",
        "waiting for the preemption for this pod to be finished",
    )
