"""Members added to events since the first release are removed for comparisons with older events."""

from __future__ import annotations

import msgspec

from schedviz.trace.added_members import view_without_added_facts, view_without_taints, without_added_members
from schedviz.trace.events import ApiWritten, BindingStarted, CacheNode, CycleEnded, CycleStarted, NodeChange, StageEnded
from schedviz.trace.view import CacheView, CycleView, NodeItem, SnapshotView, StageView, View


def test_members_added_to_an_event_are_removed() -> None:
    event = CycleStarted(event=2, at=0.5, cycle=1, pod="default/web", uid="u1", attempts=1)

    assert b"uid" not in msgspec.json.encode(without_added_members(event))
    assert without_added_members(event).attempts == 1


def test_the_pod_of_cycle_ended_is_removed() -> None:
    event = CycleEnded(event=4, at=0.5, cycle=1, pod="default/web", outcome="scheduled", node="node-1")

    assert msgspec.to_builtins(without_added_members(event)).keys() == {"t", "event", "at", "cycle", "outcome", "node"}
    assert msgspec.json.decode(msgspec.json.encode(without_added_members(event)), type=CycleEnded).pod == ""


def test_the_scores_of_a_stage_are_removed() -> None:
    scored = StageEnded(event=5, at=0.5, cycle=1, stage="Score", facts={"plugins": ["A"], "nodes": 2, "best": [{"node": "n", "raw": [1]}]})
    normalized = StageEnded(event=6, at=0.5, cycle=1, stage="NormalizeScore", facts={"weights": [1], "best": []})

    assert without_added_members(scored).facts == {"plugins": ["A"], "nodes": 2}
    assert without_added_members(normalized).facts == {}


def test_the_scores_of_a_view_are_removed() -> None:
    stages = [StageView(stage="Score", facts={"nodes": 2, "best": []}), StageView(stage="Filter", facts={"best": 1})]
    view = View(cycle=CycleView(cycle=1, pod="default/web", stages=stages))

    reduced = view_without_added_facts(view)

    assert reduced.cycle is not None
    assert [stage.facts for stage in reduced.cycle.stages] == [{"nodes": 2}, {"best": 1}]
    assert view_without_added_facts(View()) == View()


def test_the_taints_of_nodes_are_removed() -> None:
    event = CacheNode(event=3, at=0.5, op="add", node="node-1", nodes=[NodeChange(node="node-1", generation=1, taints=["gpu:NoSchedule"])])
    item = NodeItem(name="node-1", taints=["gpu:NoSchedule"], zone="a")
    view = View(cache=CacheView(list=[item]), snapshot=SnapshotView(stale={"node-1": item}))

    assert b"taints" not in msgspec.json.encode(without_added_members(event))
    assert b"taints" not in msgspec.json.encode(view_without_taints(view))
    assert view_without_taints(view).cache.list[0].zone == "a"


def test_members_that_were_not_added_are_kept() -> None:
    written = ApiWritten(event=3, at=0.5, cycle=1, verb="create", resource="pods", kind="Pod", key="default/web", uid="u1")
    begun = BindingStarted(event=4, at=0.5, cycle=1, pod="default/web", node="node-1")

    reduced = msgspec.to_builtins(without_added_members(written))
    assert {**reduced, "uid": "u1"} == msgspec.to_builtins(written)
    assert without_added_members(begun) == begun
