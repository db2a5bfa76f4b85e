from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.status import unresolvable, unschedulable

CLEARED = NominatingInfo(NominatingMode.OVERRIDE, "")


def _preempt(world, pod, statuses):
    world.update()
    return world.framework().run_post_filter_plugins(CycleState(), pod, statuses)


def test_nobody_can_be_evicted_where_nobody_has_a_lower_priority(world):
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


def test_a_nomination_is_taken_back_where_preemption_helps_nowhere(world):
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


def test_a_pod_waits_for_its_victims_to_go(world):
    world.node("a")
    evicted = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
    world.pod("old", on="a", status=evicted, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})
    pod = world.pod("p", priority=5, status={"nominatedNodeName": "a"})

    outcome = _preempt(world, pod, {"a": unschedulable("x")})

    assert outcome.status.message == "preemption: not eligible due to a terminating pod on the nominated node."
    assert outcome.result is None
