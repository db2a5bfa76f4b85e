"""A change for a group of pods is tried with all of them: each takes room from the next."""

from __future__ import annotations

import pytest

from schedviz.explain.changes import smallest_change
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.trace.releases import RELEASES, ReleaseName
from tests.explain.small_clusters import cluster, node, pod

FULL = (node("n1"), pod("a", cpu="3", on="n1"))


def test_a_node_with_room_for_one_of_four_pods_places_one_and_the_rest_need_more_nodes() -> None:
    pods = [pod(f"p{number}", cpu="3") for number in range(4)]
    [reason] = overview(cluster(*FULL, node("n2", cordoned=True), *pods), with_changes=True).reasons
    assert [change.what for change in reason.changes] == ["uncordon n2"]
    assert reason.effect == "this is enough for only 1 of 4 pods; for the others, add 3 nodes like n1"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("count", [2, 8])
def test_equal_pods_are_placed_and_removed_again_in_every_release(release: ReleaseName, count: int) -> None:
    pods = [pod(f"p{number}", cpu="100m", nodeSelector={"zone": "nowhere"}) for number in range(count)]
    simulation = cluster(node("n1"), node("n2"), *pods, release=release)
    # The engine is as before the first search.
    first, second = (smallest_change(simulation, f"default/p{number}").suggestions for number in range(2))
    assert len(first) == len(second) > 0
    [reason] = overview(simulation, with_changes=True).reasons
    assert reason.effect == ("this is enough for both pods" if count == 2 else f"this is enough for all {count} pods")


def test_a_change_that_places_all_pods_says_so() -> None:
    pods = [pod(f"p{number}", cpu="2") for number in range(2)]
    [reason] = overview(cluster(*FULL, node("n2", cordoned=True), *pods), with_changes=True).reasons
    assert reason.effect == "this is enough for both pods"


def test_of_many_pods_the_first_are_tried() -> None:
    for cpu, effect in (
        ("100m", "this is enough for the first 20 of 25 pods; the others were not tried"),
        ("1", "this is enough for only 4 of the first 20 of 25 pods; the others were not tried"),
    ):
        pods = [pod(f"p{number}", cpu=cpu) for number in range(25)]
        [reason] = overview(cluster(node("n2", cordoned=True), *pods), with_changes=True).reasons
        assert reason.effect == effect


def test_groups_of_one_change_are_tried_together() -> None:
    pods = (pod("p", cpu="3"), pod("q", cpu="2"))
    [reason] = overview(cluster(*FULL, node("n2", cordoned=True), *pods), with_changes=True).reasons
    assert len(reason.groups) == 2
    assert reason.effect.startswith("this is enough for only 1 of 2 pods")


def test_an_effect_that_depends_on_the_order_is_a_range_and_pods_of_one_zone_get_no_node_elsewhere() -> None:
    in_b = {"topology.kubernetes.io/zone": "b"}
    pods = (pod("big", cpu="3"), pod("s1", cpu="1500m", nodeSelector=in_b), pod("s2", cpu="1500m", nodeSelector=in_b))
    [reason] = overview(cluster(*FULL, node("n2", zone="b", cordoned=True), *pods), with_changes=True).reasons
    assert [change.what for change in reason.changes] == ["uncordon n2"]
    assert (
        reason.effect
        == "this is enough for 1 to 2 of 3 pods, depending on which is tried first; for the others, add a node like n2, with `topology.kubernetes.io/zone=b`"
    )


def test_a_pod_of_higher_priority_is_tried_first() -> None:
    pods = (pod("big", cpu="3", priority=10), pod("s1", cpu="1500m"), pod("s2", cpu="1500m"))
    [reason] = overview(cluster(*FULL, node("n2", cordoned=True), *pods), with_changes=True).reasons
    assert reason.effect == "this is enough for only 1 of 3 pods; for the others, add a node like n1"


def test_one_pod_has_no_count_of_pods() -> None:
    [reason] = overview(cluster(*FULL, node("n2", cordoned=True), pod("p", cpu="3")), with_changes=True).reasons
    assert (reason.effect, bool(reason.changes)) == ("", True)


def test_pods_whose_claims_are_not_bound_are_not_counted() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"}, "spec": {}}
    pods = [pod(f"p{number}", cpu="3", volumes=volumes) for number in range(2)]
    [reason] = overview(cluster(*FULL, node("n2", cordoned=True), claim, *pods), with_changes=True).reasons
    assert reason.effect == ""


def test_the_changes_for_one_of_several_equal_pods_say_how_many_they_place() -> None:
    simulation = cluster(*FULL, node("n2", cordoned=True), *(pod(f"p{number}", cpu="3") for number in range(2)))
    found = smallest_change(simulation, "default/p1", why_pending(simulation, "default/p1"))
    assert found.suggestions[0].together == "this is enough for only 1 of 2 pods; for the others, add a node like n1"


def test_the_simulation_is_unchanged() -> None:
    simulation = cluster(*FULL, node("n2", cordoned=True), *(pod(f"p{number}", cpu="3") for number in range(2)))
    before = why_pending(simulation, "default/p1")
    overview(simulation, with_changes=True)
    assert why_pending(simulation, "default/p1").matrix == before.matrix


def test_a_pod_of_the_same_priority_is_not_deleted_by_a_command() -> None:
    for priority, has_command in ((0, False), (10, True)):
        simulation = cluster(node("n1"), pod("a", cpu="3", on="n1"), pod("p", cpu="3", priority=priority, preemptionPolicy="Never"))
        found = smallest_change(simulation, "default/p", why_pending(simulation, "default/p"))
        [victim] = [change for each in found.suggestions for change in each.changes if change.kind == "victim"]
        assert (victim.what, bool(victim.kubectl)) == ("remove default/a from n1", has_command)


def test_if_one_more_node_places_some_pods_the_number_for_all_is_shown() -> None:
    pods = [pod(f"p{number}", cpu="4") for number in range(3)]
    [reason] = overview(cluster(node("n1"), pod("a", cpu="4", on="n1"), *pods), with_changes=True).reasons
    assert [change.what for change in reason.changes] == ["add a node like n1"]
    assert reason.effect == "this is enough for only 1 of 3 pods; for all of them, add 3 nodes like n1"
