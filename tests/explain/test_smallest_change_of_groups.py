"""What would let a pod group run: every suggestion is carried out on a session, and the group is scheduled."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.explain.changes import smallest_change
from schedviz.explain.changes.group_search import GroupSearch
from schedviz.explain.changes.pod_changes import _pod_affinity, _selectors, _spread
from schedviz.explain.changes.smallest import search_change
from schedviz.explain.why import find_pod, why_pending
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.workloads import PodGroup
from tests.explain.small_clusters import cluster, do, node, pod

GATES = {"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True}
ZONE = "topology.kubernetes.io/zone"


def group(min_count: int, **spec: Any) -> dict[str, Any]:
    policy = {"schedulingPolicy": {"gang": {"minCount": min_count}}}
    return {"kind": "PodGroup", "metadata": {"name": "gang", "namespace": "default"}, "spec": policy | spec}


def members(count: int, **spec: Any) -> list[dict[str, Any]]:
    names = ["p", *(f"q{place}" for place in range(1, count))]
    return [pod(name, schedulingGroup={"podGroupName": "gang"}, **spec) for name in names]


def session(objects: list[dict[str, Any]]) -> Any:
    return cluster(*objects, release="v1.36", feature_gates=GATES)


CASES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "too few pods": (
        [node("n1"), group(3), *members(2)],
        [
            "lower `minCount` of the pod group default/gang from 3 to 2",
            "create 1 pod like default/p in the pod group default/gang",
        ],
    ),
    "the group does not exist": ([node("n1"), *members(2)], ["create the pod group default/gang with `minCount` 2"]),
    "too few nodes": (
        [node("n1"), group(3), *members(3, cpu="3")],
        ["lower `minCount` of the pod group default/gang from 3 to 1", "add 2 nodes like n1"],
    ),
    "a domain that is too small": (
        [node("n1", zone="a"), node("n2", zone="b"), group(2, schedulingConstraints={"topology": [{"key": ZONE}]}), *members(2, cpu="3")],
        [
            f"remove the topology constraint on `{ZONE}` from the pod group default/gang",
            "lower `minCount` of the pod group default/gang from 2 to 1",
        ],
    ),
    "a label that no node has": (
        [node("n1"), group(2), *members(2, nodeSelector={"disk": "ssd"})],
        ["remove `disk=ssd` from the pod's `nodeSelector`", "label n1 with `disk=ssd`"],
    ),
}


@pytest.mark.parametrize(("objects", "expected"), CASES.values(), ids=list(CASES))
def test_the_change_is_suggested_and_schedules_the_group(objects: list[dict[str, Any]], expected: list[str]) -> None:
    result = smallest_change(session(objects), "default/p")
    whats = [" and ".join(change.what for change in suggestion.changes) for suggestion in result.suggestions]
    assert set(expected) <= set(whats), whats
    for suggestion in result.suggestions:
        simulation = session(objects)
        do(simulation, "run", max=3)
        for command in suggestion.commands:
            do(simulation, **msgspec.to_builtins(command))
        do(simulation, "advance", seconds=60)
        do(simulation, "run", max=10)
        placed = [obj.spec.node_name for obj in simulation.stored_objects() if type(obj).__name__ == "Pod" and obj.spec.node_name]
        assert set(suggestion.nodes) == set(placed), suggestion.changes
        assert suggestion.effect == "groupRuns"


LEADER: dict[str, Any] = {
    "affinity": {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "none"}}}]
        },
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
            }
        },
    },
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}],
}


def test_one_topology_constraint_is_removed_and_the_others_are_kept() -> None:
    topology = [{"key": ZONE}, {"key": "rack"}]
    pods = group(2, schedulingConstraints={"topology": topology})
    dry_run_of = session([node("n1", rack="1"), pods, *members(2)])
    search = GroupSearch(dry_run_of, DryRun(dry_run_of, find_pod(dry_run_of, "default/p")))

    left = {}
    for change in search._of_group():
        (changed,) = change.updated
        assert isinstance(changed, PodGroup)
        constraints = changed.spec.scheduling_constraints
        left[change.what] = [constraint.key for constraint in constraints.topology] if constraints is not None else []

    assert left == {
        f"remove the topology constraint on `{ZONE}` from the pod group default/gang": ["rack"],
        "remove the topology constraint on `rack` from the pod group default/gang": [ZONE],
    }


def test_the_changes_behind_a_suggestion_for_a_group_are_known() -> None:
    simulation = session([node("n1"), group(3), *members(2)])

    smallest, search = search_change(simulation, "default/p", why_pending(simulation, "default/p"))

    for suggestion in smallest.suggestions:
        assert [change.what for change in search.changes_behind(suggestion)] == [change.what for change in suggestion.changes]
    assert smallest.suggestions


def test_the_pods_of_a_group_may_differ() -> None:
    leader, worker = members(1, **LEADER)[0], members(2)[1]
    whats = {
        change.what
        for suggestion in smallest_change(session([node("n1"), group(2), leader, worker]), "default/p").suggestions
        for change in suggestion.changes
    }
    assert whats


@pytest.mark.parametrize("place", range(4))
def test_a_change_of_a_pod_leaves_others_that_have_nothing_of_it_as_they_are(place: int) -> None:
    changed, other = (default_object(codec.from_dict(each)) for each in (members(1, **LEADER)[0], members(2)[1]))
    assert isinstance(changed, Pod)
    assert isinstance(other, Pod)
    changed = msgspec.structs.replace(changed, spec=msgspec.structs.replace(changed.spec, node_selector={"zone": "a"}))
    changes = [*_selectors(changed, is_met=False), *_spread(changed), *_pod_affinity(changed)]
    assert len(changes) == 4

    assert changes[place].of_pod(changed) != changed
    assert changes[place].of_pod(other) is other


def test_a_group_that_fits_needs_no_change() -> None:
    result = smallest_change(session([node("n1"), group(2), *members(2)]), "default/p")
    assert result.suggestions == ()
    assert result.sentence.startswith("Nothing has to change: ")


def test_the_sentence_says_that_the_group_is_scheduled() -> None:
    result = smallest_change(session([node("n1"), group(3), *members(2)]), "default/p")
    assert result.sentence == ("default/p would be scheduled with its group: lower `minCount` of the pod group default/gang from 3 to 2.")
