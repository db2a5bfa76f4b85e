from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.status import unresolvable, unschedulable

CLEARED = NominatingInfo(NominatingMode.OVERRIDE, "")


def _preempt(world, pod, statuses):
    world.update()
    return world.framework().run_post_filter_plugins(CycleState(), pod, NodeToStatusMap(statuses))


def test_no_pod_is_evicted_without_a_pod_of_lower_priority(world):
    world.node("a")
    world.node("b")
    pod = world.pod("p")

    outcome = _preempt(world, pod, {"a": unschedulable("x"), "b": unresolvable("y")})

    message = (
        "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )
    assert (outcome.status.message, outcome.status.code.value) == (message, "Unschedulable")
    assert outcome.result is not None
    assert outcome.result.nominating_info == CLEARED


def test_a_nomination_is_withdrawn_if_preemption_helps_on_no_node(world):
    world.node("a")
    pod = world.pod("p", status={"nominatedNodeName": "a"})

    outcome = _preempt(world, pod, {"a": unresolvable("x")})

    assert world.api.cleared == ["default/p"]
    assert "1 Preemption is not helpful for scheduling" in outcome.status.message


def test_a_pod_that_never_preempts_keeps_its_nomination(world):
    world.node("a")

    outcome = _preempt(world, world.pod("p", preemptionPolicy="Never"), {"a": unschedulable("x")})

    assert outcome.status.message == "preemption: not eligible due to preemptionPolicy=Never."
    assert outcome.result is None


def test_a_pod_waits_until_its_victims_are_gone(world):
    world.node("a")
    evicted = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
    world.pod("old", on="a", status=evicted, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})
    pod = world.pod("p", priority=5, status={"nominatedNodeName": "a"})

    outcome = _preempt(world, pod, {"a": unschedulable("x")})

    assert outcome.status.message == "preemption: not eligible due to a terminating pod on the nominated node."
    assert outcome.result is None


def _low(world, name, node, priority=0, cpu="2", **rest):
    return world.pod(name, {"cpu": cpu}, on=node, priority=priority, **rest)


def _evict(world, pod):
    """Filter, then PostFilter, as a scheduling cycle does."""
    framework = world.framework()
    _, outcome, state = world.filter(framework, pod)
    assert not len(outcome.feasible)
    return framework.run_post_filter_plugins(state, pod, outcome.node_to_status())


def test_the_least_important_pods_are_evicted_and_the_others_are_reprieved(world):
    world.node("a", {"cpu": "4"})
    _low(world, "one", "a", priority=1)
    _low(world, "two", "a", priority=2)

    outcome = _evict(world, world.pod("p", {"cpu": "2"}, priority=10))

    assert outcome.result is not None
    assert outcome.result.nominating_info == NominatingInfo(NominatingMode.OVERRIDE, "a")
    assert outcome.result.record.victims == ("default/one",)
    assert outcome.result.record.rule == "only"
    assert world.api.writes == [
        ("patch", "default/one", "DisruptionTarget"),
        ("delete", "default/one", ""),
        ("event", "default/one", "Preempted by a pod on node a"),
    ]


def test_the_node_with_the_least_important_victim_is_chosen(world):
    for name, priority in (("a", 3), ("b", 1), ("c", 2)):
        world.node(name, {"cpu": "2"})
        _low(world, f"on-{name}", name, priority=priority)

    outcome = _evict(world, world.pod("p", {"cpu": "2"}, priority=10))

    assert outcome.result is not None
    assert (outcome.result.record.chosen, outcome.result.record.rule) == ("b", "highest")
    assert [candidate.node for candidate in outcome.result.record.candidates] == ["a", "b", "c"]


def test_a_node_whose_victims_no_budget_protects_is_preferred(world):
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"}}
    world.object({**budget, "spec": {"selector": {"matchLabels": {"app": "a"}}}, "status": {"disruptionsAllowed": 0}})
    world.node("a", {"cpu": "2"})
    world.node("b", {"cpu": "2"})
    _low(world, "protected", "a", priority=1, labels={"app": "a"})
    _low(world, "free", "b", priority=5)

    outcome = _evict(world, world.pod("p", {"cpu": "2"}, priority=10))

    assert outcome.result is not None
    assert (outcome.result.record.chosen, outcome.result.record.rule) == ("b", "pdb")
    assert [candidate.num_pdb_violations for candidate in outcome.result.record.candidates] == [0, 1]


def test_the_detailed_record_has_each_reprieve_with_protected_pods_first(world):
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"}}
    world.object({**budget, "spec": {"selector": {"matchLabels": {"app": "a"}}}, "status": {"disruptionsAllowed": 0}})
    world.node("a", {"cpu": "6"})
    _low(world, "important", "a", priority=3)
    _low(world, "protected", "a", priority=1, labels={"app": "a"})
    _low(world, "minor", "a", priority=1)
    framework = world.framework()
    framework.keeps_details = True
    pod = world.pod("p", {"cpu": "2"}, priority=10)
    _, outcome, state = world.filter(framework, pod)

    result = framework.run_post_filter_plugins(state, pod, outcome.node_to_status()).result

    assert result is not None
    (candidate,) = result.record.candidates
    assert candidate.victims == ("default/minor",)
    assert [(reprieve.pod, reprieve.stays, reprieve.violates_budget) for reprieve in candidate.reprieves] == [
        ("default/protected", True, True),
        ("default/important", True, False),
        ("default/minor", False, False),
    ]


def test_among_equal_victims_the_one_that_started_last_is_evicted(world):
    for name, started in (("a", "2023-12-31T00:00:00Z"), ("b", "2023-12-31T01:00:00Z")):
        world.node(name, {"cpu": "2"})
        _low(world, f"on-{name}", name, status={"startTime": started})

    outcome = _evict(world, world.pod("p", {"cpu": "2"}, priority=10))

    assert outcome.result is not None
    assert outcome.result.record.victims == ("default/on-b",)
    assert outcome.result.record.rule == "start"


def test_a_node_on_which_eviction_does_not_help_has_a_reason(world):
    world.node("a", {"cpu": "2"})
    _low(world, "old", "a", cpu="1")

    outcome = _evict(world, world.pod("p", {"cpu": "3"}, priority=10))

    assert outcome.status.message == "preemption: 0/1 nodes are available: 1 Insufficient cpu."
    assert world.api.writes == []


def test_lower_pods_nominated_to_the_chosen_node_lose_their_nomination(world):
    world.node("a", {"cpu": "2"})
    _low(world, "old", "a")
    waiting = world.pod("waiting", {"cpu": "2"}, priority=5, status={"nominatedNodeName": "a"})
    world.nominations.pods["a"] = [waiting]

    _evict(world, world.pod("p", {"cpu": "2"}, priority=10))

    assert world.api.cleared == ["default/waiting"]


def test_removing_a_pod_after_an_incomplete_prefilter_is_an_error(world):
    world.node("a", {"cpu": "2"})
    _low(world, "old", "a")
    world.update()

    outcome = world.framework().run_post_filter_plugins(CycleState(), world.pod("p", priority=10), NodeToStatusMap())

    message = (
        'preemption: running RemovePod on PreFilter plugin "VolumeRestrictions": cannot read "PreFilterVolumeRestrictions" from cycleState'
    )
    assert (outcome.status.code.value, outcome.status.message) == ("Error", message)
    assert outcome.result is None
