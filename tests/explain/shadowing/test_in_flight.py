"""Bindings that were in flight together are judged in the order of decisions; the engine that is asked stays as it is."""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns
from schedviz.explain.shadowing.in_flight import Bound, Move, Replay, bound_pod
from schedviz.kube.core import Pod
from tests.explain.small_clusters import cluster, node, pod


def the(simulation: Simulation, name: str) -> Pod:
    pod_ = simulation.cluster.find("Pod", f"default/{name}")
    assert isinstance(pod_, Pod)
    return pod_


def bound(simulation: Simulation, name: str, on: str, *, rank: int, arrived: int | None = 0, after: int = 0) -> Bound:
    return Bound(the(simulation, name), on, (0, rank), arrived, after)


def verdicts(simulation: Simulation, *members: Bound, is_complete: bool = True) -> list[str]:
    result = Replay(simulation, LiveDryRuns(), []).judge_all(members, is_complete=is_complete)
    return [one.verdict for one in result]


def test_the_order_of_decisions_counts_and_not_that_of_bindings() -> None:
    simulation = cluster(node("large", cpu="8"), node("small", cpu="4"), pod("first", cpu="4"), pod("second", cpu="3"))
    second, first = bound(simulation, "second", "small", rank=2), bound(simulation, "first", "large", rank=1, after=1)
    assert verdicts(simulation, second, first) == ["agrees", "agrees"]


def test_equal_pods_may_have_swapped_their_nodes() -> None:
    simulation = cluster(node("large", cpu="8"), node("small", cpu="7"), pod("a", cpu="3"), pod("b", cpu="3"))
    a, b = bound(simulation, "a", "small", rank=1), bound(simulation, "b", "large", rank=2, after=1)
    assert verdicts(simulation, a, b) == ["agrees", "agrees"]


def test_if_another_order_agrees_the_binding_is_undecided() -> None:
    simulation = cluster(node("n", cpu="2"), node("m", cpu="1"), pod("x", cpu="1500m"), pod("y", cpu="600m"))
    # In this order y does not fit on n any more.
    x, y = bound(simulation, "x", "n", rank=1), bound(simulation, "y", "n", rank=2, after=1)
    judgements = Replay(simulation, LiveDryRuns(), []).judge_all([x, y], is_complete=True)
    assert [(judgement.verdict, judgement.cause, judgement.in_flight) for judgement in judgements] == [
        ("agrees", None, 2),
        ("undecided", "order", 2),
    ]


def test_a_node_that_fits_in_no_order_is_infeasible_unless_a_pod_is_missing() -> None:
    simulation = cluster(node("n", cpu="8"), node("m", cpu="1"), pod("x"), pod("y", cpu="2"))
    x, y = bound(simulation, "x", "n", rank=1), bound(simulation, "y", "m", rank=2, after=1)
    assert verdicts(simulation, x, y) == ["agrees", "infeasible"]
    assert verdicts(simulation, x, y, is_complete=False) == ["agrees", "undecided"]


def test_a_pod_deleted_after_the_arrival_probably_still_counted() -> None:
    simulation = cluster(node("n"), node("m"), pod("old", cpu="1", on="n"), pod("p"))
    # Two pods of m were deleted just before the binding. With them, n was the better node.
    gone = bound_pod(the(simulation, "old"), "m")
    moves = [Move(number, simulation.scheduler.state.pod_info(one), False) for number, one in enumerate(twice(gone), 1)]

    assert Replay(simulation, LiveDryRuns(), moves).judge_one(bound(simulation, "p", "n", rank=1, arrived=0, after=2)).verdict == "agrees"
    assert Replay(simulation, LiveDryRuns(), moves).judge_one(bound(simulation, "p", "n", rank=1, arrived=2, after=2)).verdict == "notBest"


def test_the_last_binding_before_another_may_have_been_unknown_to_the_scheduler() -> None:
    simulation = cluster(node("n"), node("m"), pod("other", cpu="1", on="n"), pod("p"))
    moves = [Move(1, simulation.scheduler.state.pod_info(the(simulation, "other")), True)]

    assert (
        Replay(simulation, LiveDryRuns(), moves).judge_one(bound(simulation, "p", "n", rank=1, arrived=0, after=1)).verdict == "undecided"
    )
    assert Replay(simulation, LiveDryRuns(), []).judge_one(bound(simulation, "p", "n", rank=1, arrived=0, after=1)).verdict == "notBest"


def twice(one: Pod) -> list[Pod]:
    """Two pods with this spec."""
    return [one, msgspec.structs.replace(one, metadata=msgspec.structs.replace(one.metadata, name="another", uid="another"))]


def test_the_engine_is_unchanged() -> None:
    simulation = cluster(node("n"), node("m"), pod("x"), pod("y"))
    before: Any = simulation.view()
    verdicts(simulation, bound(simulation, "x", "n", rank=1), bound(simulation, "y", "m", rank=2, after=1))
    assert simulation.view() == before
    assert simulation.drain_events() == []
