"""A binding that does not agree is judged again with what became known about the order of the scheduler's decisions."""

from __future__ import annotations

import pytest

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns
from schedviz.explain.shadowing.binding_recheck import BindingRecheck, Vanished
from schedviz.explain.shadowing.decision_times import DecisionTime, DecisionTimes
from schedviz.explain.shadowing.in_flight import Bound, Move, bound_pod
from schedviz.explain.shadowing.judgement import Judgement
from schedviz.kube.core import Pod
from tests.explain.small_clusters import cluster, node, pod

FIRST = Judgement("notBest", in_flight=3)


def the(simulation: Simulation, name: str) -> Pod:
    found = simulation.cluster.find("Pod", f"default/{name}")
    assert isinstance(found, Pod)
    return found


def added(name: str, after: int, before: int, *, on: str = "", exact: bool = True) -> DecisionTime:
    return DecisionTime(f"default/{name}", "added", after, before, on, exact=exact)


def removed(name: str, at: int) -> DecisionTime:
    return DecisionTime(f"default/{name}", "removed", at, at)


def recheck(simulation: Simulation, moves: list[Move], *times: DecisionTime, vanished: tuple[Vanished, ...] = ()) -> BindingRecheck:
    known = DecisionTimes()
    known.add(times)
    return BindingRecheck(simulation, LiveDryRuns(), moves=moves, vanished=vanished, times=known)


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        # The scheduler saw that the pod of n went after it had chosen, before it, or at a time that is not known.
        ((added("p", 10, 20), removed("gone", 30)), "agrees"),
        ((added("p", 10, 20), removed("gone", 5)), "notBest"),
        ((added("p", 10, 20), removed("gone", 15)), "undecided"),
        ((added("p", 10, 20),), "undecided"),
        ((), "undecided"),
        # An event tells only that it was bound before.
        ((added("p", 0, 20, exact=False), removed("gone", 30)), "agrees"),
        ((added("p", 0, 20, exact=False), removed("gone", 5)), "undecided"),
    ],
)
def test_a_deleted_pod_counts_if_the_scheduler_decided_before_its_deletion(times: tuple[DecisionTime, ...], verdict: str) -> None:
    # With the pod on n, m is the better node, though another one is on it.
    simulation = cluster(node("n"), node("m"), pod("p"), pod("on-m", on="m"), pod("gone", cpu="1"))
    moves = [Move(1, simulation.scheduler.state.pod_info(bound_pod(the(simulation, "gone"), "n")), False)]
    one = Bound(the(simulation, "p"), "m", (0, 2), 0, 1)

    found = recheck(simulation, moves, *times).judge(one, FIRST)

    assert (found.verdict, found.in_flight) == (verdict, 3)


@pytest.mark.parametrize(("decided", "verdict"), [((5, 8), "agrees"), ((30, 31), "notBest"), (None, "undecided")])
def test_a_pod_that_was_tried_again_may_have_been_decided_before_a_binding_that_came_first(
    decided: tuple[int, int] | None, verdict: str
) -> None:
    # The retried pod is on n by now, and was bound after p.
    simulation = cluster(node("n"), node("m"), pod("p"), pod("on-m", on="m"), pod("retried", cpu="1", on="n"))
    moves = [Move(2, simulation.scheduler.state.pod_info(the(simulation, "retried")), True, (0, 1), is_retried=True)]
    times = [added("p", 10, 20), *([] if decided is None else [added("retried", *decided)])]
    one = Bound(the(simulation, "p"), "m", (0, 2), 1, 1)

    assert recheck(simulation, moves, *times).judge(one, FIRST).verdict == verdict


def test_the_order_of_the_queue_is_used_if_no_times_are_known() -> None:
    simulation = cluster(node("n"), node("m"), pod("p"), pod("on-m", on="m"), pod("other", cpu="1", on="n"))
    one = Bound(the(simulation, "p"), "m", (0, 2), 0, 1)
    for rank, verdict in ((1, "agrees"), (3, "notBest")):
        moves = [Move(2, simulation.scheduler.state.pod_info(the(simulation, "other")), True, (0, rank))]
        assert recheck(simulation, moves).judge(one, FIRST).verdict == verdict


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ((added("p", 10, 20), added("ghost", 5, 6, on="n")), "agrees"),
        ((added("p", 10, 20), added("ghost", 5, 6, on="n"), removed("ghost", 9)), "notBest"),
        ((added("p", 10, 20), added("ghost", 5, 6, on="n"), removed("ghost", 15)), "agrees"),
        # Its binding failed once before.
        (
            (added("p", 10, 20), added("ghost", 1, 2, on="m"), removed("ghost", 3), added("ghost", 5, 6, on="n"), removed("ghost", 30)),
            "agrees",
        ),
        # No node had been chosen for it.
        ((added("p", 10, 20),), "notBest"),
        # Without times, it was perhaps where this scheduler would have placed it.
        ((), "undecided"),
    ],
)
def test_a_pod_deleted_while_pending_may_have_had_a_node(times: tuple[DecisionTime, ...], verdict: str) -> None:
    simulation = cluster(node("n"), node("m"), pod("p"), pod("on-m", on="m"), pod("ghost", cpu="1"))
    one = Bound(the(simulation, "p"), "m", (0, 2), 0, 1)

    assert recheck(simulation, [], *times, vanished=(Vanished(the(simulation, "ghost"), 1),)).judge(one, FIRST).verdict == verdict


def test_a_reused_name_has_no_known_time() -> None:
    simulation = cluster(node("n"), pod("p"))
    times = DecisionTimes()
    times.add([added("p", 1, 2), added("p", 3, 4)])
    assert times.find(the(simulation, "p"), is_added=True) is None


def test_times_expire_after_two_minutes() -> None:
    simulation = cluster(node("n"), pod("p"))
    times = DecisionTimes()
    times.add([added("p", 1, 2)])
    times.add([removed("other", 200_000_000)])
    assert times.find(the(simulation, "p"), is_added=True) is None


def test_times_of_few_pods_are_kept_however_many_are_pushed() -> None:
    simulation = cluster(node("n"), pod("p0"), pod("p49999"))
    times = DecisionTimes()
    for start in range(0, 50_000, 2000):
        times.add(added(f"p{number}", 1, 2) for number in range(start, start + 2000))
    times.add(added("again", 1, 2) for _ in range(1000))

    assert len(times) <= 20_050
    assert times.find(the(simulation, "p49999"), is_added=True) is not None
    assert times.find(the(simulation, "p0"), is_added=True) is None
