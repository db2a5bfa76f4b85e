"""The scheduling cycle of a pod group: its pods are tried together, and go on together or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings, stages
from schedviz.trace.events import CycleEnded, PodGroupEnded, PodGroupPodTried, PodGroupStageEnded, decode_events, encode_events
from schedviz.trace.fold import Fold

from .clusters import do, do_unchecked, node, objects, pod

GATES = {"GenericWorkload": True, "GangScheduling": True}
ZONE = "topology.kubernetes.io/zone"


def group(name: str = "gang", min_count: int = 2, **spec: Any) -> dict[str, Any]:
    policy = {"schedulingPolicy": {"gang": {"minCount": min_count}}}
    return {"kind": "PodGroup", "metadata": {"name": name, "namespace": "default"}, "spec": policy | spec}


def member(name: str, *, of: str = "gang", **members: Any) -> dict[str, Any]:
    return pod(name, schedulingGroup={"podGroupName": of}, **members)


def in_zone(name: str, zone: str, *, cpu: str = "4") -> dict[str, Any]:
    made = node(name, cpu=cpu)
    made["metadata"]["labels"] = {ZONE: zone}
    return made


def simulated(*dicts: dict[str, Any], gates: dict[str, bool] | None = None) -> Simulation:
    simulation = Simulation(SimulationSettings(release="v1.36", feature_gates=GATES | (gates or {})))
    simulation.load(objects(*dicts))
    return simulation


def outcomes(simulation: Simulation) -> dict[str, tuple[str, str]]:
    ended = [event for event in simulation.drain_events() if isinstance(event, CycleEnded)]
    return {event.pod: (event.outcome, event.node) for event in ended}


def condition(simulation: Simulation, name: str = "gang") -> tuple[str, str]:
    (found,) = simulation.cluster.store.get("PodGroup", f"default/{name}").status.conditions
    return found.status, found.reason


def test_pods_wait_for_their_group_and_for_enough_of_them() -> None:
    simulation = simulated(node("a"))
    do(simulation, "create", object=member("p1"))
    do(simulation, "create", object=group())

    assert not simulation.scheduler.has_pods_to_pop
    do(simulation, "create", object=member("p2"))
    assert {entry.pod for entry in simulation.view().queue.active_q} == {"default/p1", "default/p2"}


def test_one_cycle_schedules_all_pods_of_a_group() -> None:
    simulation = simulated(node("a"), group(), member("p1"), member("p2"))
    outcome = do(simulation, "run", max=1)

    assert outcome.cycles == 1
    assert outcomes(simulation) == {"default/p1": ("scheduled", "a"), "default/p2": ("scheduled", "a")}
    assert condition(simulation) == ("True", "Scheduled")


def test_no_pod_of_a_gang_is_scheduled_if_too_few_fit() -> None:
    simulation = simulated(node("a", cpu="1"), group(), member("p1"), member("p2"))
    do(simulation, "cycle")

    assert outcomes(simulation) == {"default/p1": ("unschedulable", ""), "default/p2": ("unschedulable", "")}
    assert condition(simulation) == ("False", "Unschedulable")
    assert simulation.view().cache.assumed_pods == []


def test_the_pods_of_a_group_without_minimum_are_scheduled_as_they_fit() -> None:
    basic = group() | {"spec": {"schedulingPolicy": {"basic": {}}}}
    simulation = simulated(node("a", cpu="1"), basic, member("p1"), member("p2"))
    do(simulation, "cycle")

    assert outcomes(simulation) == {"default/p1": ("scheduled", "a"), "default/p2": ("unschedulable", "")}
    assert condition(simulation) == ("True", "Scheduled")


def test_a_group_that_is_deleted_meanwhile_ends_its_cycle_in_an_error_for_all_pods() -> None:
    simulation = simulated(node("a"), group(), member("p1"), member("p2"))
    do(simulation, "delete", kind="PodGroup", name="gang")
    simulation.drain_events()
    do(simulation, "cycle")

    events = simulation.drain_events()
    (ended,) = [event for event in events if isinstance(event, PodGroupEnded)]
    assert ended.outcome == "error"
    assert ended.message == (
        'failed to schedule other pod from a pod group: running Permit plugin "GangScheduling": failed to get podGroup default/gang: '
        'podgroup.scheduling.k8s.io "gang" not found'
    )
    assert [event.pod for event in events if isinstance(event, PodGroupPodTried)] == ["default/p1"]
    assert {event.pod: event.outcome for event in events if isinstance(event, CycleEnded)} == {"default/p1": "error", "default/p2": "error"}


def test_pods_of_one_group_must_name_the_same_scheduler() -> None:
    config = {"profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}]}
    simulation = Simulation(SimulationSettings(release="v1.36", feature_gates=GATES, config=config))
    simulation.load(objects(node("a"), group(), member("p1"), pod("p2", schedulingGroup={"podGroupName": "gang"}, schedulerName="other")))
    do(simulation, "cycle")

    message = 'all pods in a single pod group should have the same .spec.schedulerName set, got: "default-scheduler" and "other"'
    assert {(cycle.outcome, cycle.message) for cycle in simulation.drain_cycles()} == {("error", message)}
    assert simulation.cluster.store.get("PodGroup", "default/gang").status.conditions == ()


def test_a_group_whose_pods_are_all_being_deleted_is_skipped() -> None:
    simulation = simulated(node("a"), group(), member("p1"), member("p2"))
    for name in ("p1", "p2"):
        do(simulation, "delete", kind="Pod", name=name, graceful=True)
    simulation.drain_events()
    do(simulation, "cycle")

    (ended,) = [event for event in simulation.drain_events() if isinstance(event, PodGroupEnded)]
    assert ended.outcome == "skipped"
    assert simulation.view().queue.in_flight == []


def test_a_gang_that_preempts_waits_as_a_whole() -> None:
    victim = pod("v", cpu="2", node_name="a", priority=1)
    simulation = simulated(node("a", cpu="2"), victim, group(), member("p1", priority=10), member("p2", priority=10))
    do(simulation, "cycle")

    assert simulation.view().pod_group.waiting_on_preemption
    assert simulation.cluster.store.get("Pod", "default/v") is None
    do(simulation, "advance", seconds=5)
    do(simulation, "run", max=2)
    assert simulation.cluster.store.get("Pod", "default/p2").spec.node_name == "a"


def test_pods_that_join_later_do_not_reset_the_scheduled_condition_of_the_group() -> None:
    simulation = simulated(node("a", cpu="2"), group(), member("p1"), member("p2"))
    do(simulation, "run", max=1)
    do(simulation, "create", object=member("p3"))
    do(simulation, "run", max=1)

    assert simulation.view().cycle.outcome == "unschedulable"
    assert condition(simulation) == ("True", "Scheduled")


# TopologyAwareWorkloadScheduling

TOPOLOGY = {"TopologyAwareWorkloadScheduling": True}
IN_ONE_ZONE = {"schedulingConstraints": {"topology": [{"key": ZONE}]}}


def placements(simulation: Simulation) -> list[str]:
    return [
        event.facts["placement"]
        for event in simulation.drain_events()
        if isinstance(event, PodGroupStageEnded) and event.stage == stages.TRY_PODS
    ]


def test_a_group_with_a_topology_constraint_is_tried_in_each_domain() -> None:
    cluster = [in_zone("a1", "a", cpu="1"), in_zone("a2", "a", cpu="1"), in_zone("b1", "b", cpu="3")]
    simulation = simulated(*cluster, group(min_count=3, **IN_ONE_ZONE), *(member(f"p{i}") for i in range(3)), gates=TOPOLOGY)
    do(simulation, "run", max=1)

    assert {name: simulation.cluster.store.get("Pod", f"default/{name}").spec.node_name for name in ("p0", "p1", "p2")} == {
        "p0": "b1",
        "p1": "b1",
        "p2": "b1",
    }
    assert placements(simulation) == ["a", "b"]
    assert simulation.view().pod_group.placement == "b"


def test_of_several_possible_domains_the_fullest_is_chosen() -> None:
    cluster = [in_zone("a1", "a", cpu="8"), in_zone("b1", "b", cpu="3"), in_zone("c1", "c", cpu="8")]
    simulation = simulated(*cluster, group(**IN_ONE_ZONE), member("p1"), member("p2"), gates=TOPOLOGY)
    do(simulation, "run", max=1)

    assert simulation.view().pod_group.placement == "b"
    assert simulation.cluster.store.get("Pod", "default/p1").spec.node_name == "b1"


def test_a_group_that_fits_in_no_domain_is_unschedulable() -> None:
    cluster = [in_zone("a1", "a", cpu="1"), in_zone("b1", "b", cpu="1")]
    simulation = simulated(*cluster, group(**IN_ONE_ZONE), member("p1"), member("p2"), gates=TOPOLOGY)
    do(simulation, "cycle")

    assert simulation.view().pod_group.message == "0/2 placements are available, first placement status: pod group is unschedulable"


def test_further_pods_follow_their_group_into_its_domain() -> None:
    cluster = [in_zone("a1", "a", cpu="8"), in_zone("b1", "b", cpu="3")]
    simulation = simulated(*cluster, group(**IN_ONE_ZONE), member("p1"), member("p2"), gates=TOPOLOGY)
    do(simulation, "run", max=1)
    do(simulation, "create", object=member("p3"))
    simulation.drain_events()
    do(simulation, "run", max=1)

    assert placements(simulation) == ["b"]
    assert simulation.cluster.store.get("Pod", "default/p3").spec.node_name == "b1"


def test_nodes_without_the_topology_key_are_no_placement() -> None:
    simulation = simulated(node("a"), group(**IN_ONE_ZONE), member("p1"), member("p2"), gates=TOPOLOGY)
    do(simulation, "cycle")

    assert simulation.view().pod_group.message == "no feasible placements found"
    assert {cycle.message for cycle in simulation.drain_cycles()} == {"no feasible placements found"}


# WorkloadAwarePreemption

PREEMPTS = {"WorkloadAwarePreemption": True}


def test_a_group_preempts_as_few_pods_as_it_needs() -> None:
    running = [pod(f"v{i}", node_name="a", priority=i) for i in range(1, 4)]
    important = group(priority=10)
    simulation = simulated(node("a", cpu="3"), *running, important, member("p1"), member("p2"), gates=PREEMPTS)
    do(simulation, "cycle")

    assert simulation.view().pod_group.waiting_on_preemption
    assert set(simulation.cluster.store.of_kind("Pod")) == {"default/p1", "default/p2", "default/v3"}
    do(simulation, "advance", seconds=5)
    do(simulation, "run", max=2)
    assert simulation.cluster.store.get("Pod", "default/p1").spec.node_name == "a"


def test_a_group_that_is_disrupted_as_a_whole_is_one_victim() -> None:
    old = group("old", min_count=1, priority=1, disruptionMode="PodGroup")
    running = [member(f"o{i}", of="old", node_name=f"n{i}") for i in range(2)]
    cluster = [node(f"n{i}", cpu="1") for i in range(2)]
    simulation = simulated(*cluster, old, *running, group(min_count=1, priority=10), member("p1"), gates=PREEMPTS)
    do(simulation, "cycle")

    assert set(simulation.cluster.store.of_kind("Pod")) == {"default/p1"}


def test_a_group_preempts_no_pod_of_the_same_priority_and_none_if_a_pod_has_policy_never() -> None:
    victim = pod("v", node_name="a", priority=5)
    simulation = simulated(node("a", cpu="1"), victim, group(min_count=1, priority=5), member("p1"), gates=PREEMPTS)
    do(simulation, "cycle")
    assert simulation.view().pod_group.message == ("pod group is unschedulable, No preemption victims found for incoming preemptor")

    never = member("p1", preemptionPolicy="Never")
    simulation = simulated(node("a", cpu="1"), victim, group(min_count=1, priority=50), never, gates=PREEMPTS)
    do(simulation, "cycle")
    assert simulation.view().pod_group.message == "pod group is unschedulable, not eligible due to preemptionPolicy=Never."


# Stages, views and checkpoints

SCENARIOS = {
    "fits": ([node("a"), group(), member("p1"), member("p2")], {}),
    "does not fit": ([node("a", cpu="1"), group(), member("p1"), member("p2")], {}),
    "preempts": ([node("a", cpu="2"), pod("v", node_name="a", priority=1), group(), *(member(f"p{i}", priority=9) for i in "12")], {}),
    "topology": (
        [in_zone("a1", "a"), in_zone("b1", "b", cpu="2"), in_zone("c1", "c"), group(**IN_ONE_ZONE), member("p1"), member("p2")],
        TOPOLOGY,
    ),
    "preempts as a group": (
        [node("a", cpu="2"), pod("v", node_name="a", priority=1), group(priority=9), member("p1"), member("p2")],
        PREEMPTS,
    ),
}
every_scenario = pytest.mark.parametrize("scenario", SCENARIOS)


@every_scenario
def test_the_events_of_every_stage_fold_to_the_engines_view(scenario: str) -> None:
    dicts, gates = SCENARIOS[scenario]
    simulation = simulated(*dicts, gates=gates)
    fold = Fold(simulation.view())
    for _ in range(80):
        do_unchecked(simulation, "step", unit="stage")
        fold.apply_all(decode_events(encode_events(simulation.drain_events())))
        assert fold.to_view() == simulation.view()


@pytest.mark.slow
@every_scenario
def test_a_cycle_continues_identically_from_a_checkpoint_of_any_stage(scenario: str) -> None:
    dicts, gates = SCENARIOS[scenario]
    straight, saved = simulated(*dicts, gates=gates), simulated(*dicts, gates=gates)
    for _ in range(80):
        do_unchecked(straight, "step", unit="stage")
        do_unchecked(saved, "step", unit="stage")
        assert encode_events(saved.drain_events()) == encode_events(straight.drain_events())
        saved = Simulation.restore(saved.checkpoint())
        assert saved.state_hash() == straight.state_hash()


def test_a_run_ends_although_an_unschedulable_group_is_popped_repeatedly() -> None:
    simulation = simulated(node("a", cpu="1"), group(), member("p1"), member("p2"), pod("alone", cpu="1", priority=-1))
    outcome = do(simulation, "run")

    assert outcome.stopped == "repeating"
    assert outcome.result.startswith("the pod group default/gang does not fit and is popped from backoffQ over and over")
    assert outcome.cycles < 300
    assert simulation.view().cache.assumed_pods == []
    assert [entry.pod for entry in simulation.view().queue.backoff_q] != []


@pytest.mark.parametrize("named", [{}, {"podGroupName": ""}])
def test_a_pod_of_a_group_without_a_name_belongs_to_none(named: dict[str, str]) -> None:
    # An API server refuses it. As a member of a group it would be popped from backoffQ and fail over and over.
    simulation = simulated(node("a", cpu="1"), pod("p1", cpu="2", schedulingGroup=named))
    outcome = do(simulation, "run")

    assert (outcome.cycles, outcome.stopped) == (1, "empty")
    assert [entry.pod for entry in simulation.view().queue.unschedulable] == ["default/p1"]


def test_the_cycle_of_a_group_reports_progress_for_each_of_its_pods() -> None:
    simulation = simulated(node("a"), group(min_count=9), *(member(f"p{number}", cpu="100m") for number in range(9)))
    reports: list[int] = []
    simulation.on_stage = lambda: reports.append(simulation.event)
    do(simulation, "run", max=1)

    assert len(set(reports)) > 9


def test_the_pods_of_a_group_share_the_devices_of_a_claim_in_one_cycle() -> None:
    resources = "resource.k8s.io/v1"
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    shared = {
        "apiVersion": resources,
        "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": "default", "uid": "shared"},
        "spec": {"devices": {"requests": [request]}},
    }
    gpus = {
        "apiVersion": resources,
        "kind": "ResourceSlice",
        "metadata": {"name": "gpus"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "gpus", "generation": 1, "resourceSliceCount": 1},
            "allNodes": True,
            "devices": [{"name": "gpu-0"}],
        },
    }
    device_class = {"apiVersion": resources, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}
    claims = [{"name": "gpu", "resourceClaimName": "shared"}]
    pods = [member(name, resourceClaims=claims) for name in ("p1", "p2")]
    simulation = simulated(node("a"), group(), gpus, device_class, shared, *pods)

    do(simulation, "run", max=1)

    # The group has enough pods. The second writes the claim after the first has, which is a conflict, and is tried again.
    assert condition(simulation) == ("True", "Scheduled")
    do(simulation, "advance", seconds=10)
    do(simulation, "run")
    claim = simulation.cluster.store.get("ResourceClaim", "default/shared")
    assert [user.name for user in claim.status.reserved_for] == ["p1", "p2"]
    assert {simulation.cluster.store.get("Pod", f"default/{name}").spec.node_name for name in ("p1", "p2")} == {"a"}
