"""The cache's state machine, ghosts, node tree, images and expiry, with upstream's messages."""

from typing import Any

import pytest

from schedviz.engine.cache import Cache, CacheError, SchedulerExitError, Snapshot
from schedviz.engine.framework.types import NANOS_PER_SECOND, Generations, PodInfo
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod
from schedviz.trace.events import CachePod
from schedviz.trace.recorder import Recorder


def make_node(name: str, *, zone: str = "", images: tuple[str, ...] = ()) -> Node:
    node = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone} if zone else {}},
            "status": {"allocatable": {"cpu": "4", "pods": "110"}, "images": [{"names": [image], "sizeBytes": 100} for image in images]},
        }
    )
    assert isinstance(node, Node)
    return node


def make_pod(name: str, node: str, **metadata: Any) -> Pod:
    pod = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
            "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        }
    )
    assert isinstance(pod, Pod)
    return pod


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def cache(recorder: Recorder) -> Cache:
    return Cache(recorder, Generations(), ttl_seconds=30)


def names(cache: Cache) -> list[str]:
    return [info.name for info in cache.nodes]


def generation(cache: Cache, name: str) -> int:
    info = cache.nodes.get(name)
    assert info is not None
    return info.generation


def test_the_last_changed_item_is_at_the_head(cache: Cache) -> None:
    for name in ("a", "b", "c"):
        cache.add_node(make_node(name))
    assert names(cache) == ["c", "b", "a"]

    cache.assume_pod(make_pod("p", "a"))

    assert names(cache) == ["a", "c", "b"]


def test_generations_are_counted_as_upstream_counts_them(cache: Cache) -> None:
    cache.add_node(make_node("a"))
    assert generation(cache, "a") == 2

    cache.assume_pod(make_pod("p", "a"))
    assert generation(cache, "a") == 3

    cache.add_pod(make_pod("p", "a"))
    assert generation(cache, "a") == 5

    cache.update_node(make_node("a"), make_node("a", zone="z"))
    assert generation(cache, "a") == 6


def test_a_pod_is_assumed_then_confirmed(cache: Cache) -> None:
    cache.add_node(make_node("a"))
    pod = make_pod("p", "a")

    cache.assume_pod(pod)
    assert cache.is_assumed_pod(pod)

    cache.finish_binding(pod, 0)
    cache.add_pod(pod)

    assert not cache.is_assumed_pod(pod)
    assert cache.get_pod(pod) is pod
    assert cache.pod_count == 1


def test_a_pod_confirmed_on_another_node_moves_there(cache: Cache, recorder: Recorder) -> None:
    for name in ("a", "b", "c"):
        cache.add_node(make_node(name))
    cache.assume_pod(make_pod("p", "a"))
    recorder.drain()

    cache.add_pod(make_pod("p", "c"))

    (event,) = recorder.drain()
    assert isinstance(event, CachePod)
    assert [change.node for change in event.nodes] == ["a", "c"]
    assert names(cache) == ["c", "a", "b"]
    with pytest.raises(CacheError, match=r"pod uid-p\(default/p\) was assumed on a but assigned to c"):
        cache.forget_pod(make_pod("p", "a"))


def test_a_forgotten_pod_leaves_no_trace_in_the_cache(cache: Cache) -> None:
    cache.add_node(make_node("a"))
    cache.assume_pod(make_pod("p", "a"))

    cache.forget_pod(make_pod("p", "a"))

    assert cache.pod_count == 0
    with pytest.raises(CacheError, match=r"pod uid-p\(default/p\) wasn't assumed so cannot be forgotten"):
        cache.forget_pod(make_pod("p", "a"))


def test_invalid_calls_are_rejected_with_upstreams_messages(cache: Cache) -> None:
    pod, stranger = make_pod("p", "a"), make_pod("x", "a")
    cache.add_pod(pod)

    with pytest.raises(CacheError, match=r"pod uid-p\(default/p\) is in the cache, so can't be assumed"):
        cache.assume_pod(pod)
    with pytest.raises(CacheError, match=r"pod uid-p\(default/p\) was already in added state"):
        cache.add_pod(pod)
    with pytest.raises(CacheError, match=r"pod uid-x\(default/x\) is not added to scheduler cache, so cannot be updated"):
        cache.update_pod(stranger, stranger)
    with pytest.raises(CacheError, match=r"pod uid-x\(default/x\) is not found in scheduler cache, so cannot be removed from it"):
        cache.remove_pod(stranger)
    with pytest.raises(CacheError, match=r"pod uid-x\(default/x\) does not exist in scheduler cache"):
        cache.get_pod(stranger)
    with pytest.raises(CacheError, match="node b is not found"):
        cache.remove_node(make_node("b"))
    with pytest.raises(CacheError, match="cannot get cache key for pod with empty UID"):
        cache.assume_pod(make_pod("p", "a", uid=""))


def test_an_assumed_pod_is_not_updated(cache: Cache) -> None:
    cache.assume_pod(make_pod("p", "a"))

    with pytest.raises(CacheError, match=r"assumed pod uid-p\(default/p\) should not be updated"):
        cache.update_pod(make_pod("p", "a"), make_pod("p", "a"))


def test_a_pod_replaces_an_older_pod_of_its_name(cache: Cache, recorder: Recorder) -> None:
    cache.add_pod(make_pod("p", "a"))
    cache.update_pod(make_pod("p", "a"), make_pod("p", "a", uid="uid-p#2"))

    last = recorder.drain()[-1]
    assert isinstance(last, CachePod)
    assert (last.uid, last.instead_of) == ("uid-p#2", "uid-p")
    assert list(cache.pod_states) == ["uid-p#2"]


def test_an_update_to_another_node_ends_the_scheduler(cache: Cache) -> None:
    cache.add_pod(make_pod("p", "a"))

    with pytest.raises(SchedulerExitError, match="scheduler cache is corrupted"):
        cache.update_pod(make_pod("p", "a"), make_pod("p", "b"))
    with pytest.raises(SchedulerExitError, match="scheduler cache is corrupted"):
        cache.remove_pod(make_pod("p", "b"))


def test_a_missed_deletion_arrives_without_a_node_name(cache: Cache) -> None:
    cache.add_pod(make_pod("p", "a"))

    cache.remove_pod(make_pod("p", ""))

    assert cache.pod_count == 0
    assert names(cache) == []


def test_a_pod_on_an_unknown_node_creates_a_ghost(cache: Cache) -> None:
    cache.add_pod(make_pod("p", "a"))
    snapshot = Snapshot()
    cache.update_snapshot(snapshot)

    assert names(cache) == ["a"]
    assert snapshot.num_nodes == 0
    with pytest.raises(LookupError, match='nodeinfo not found for node name "a"'):
        snapshot.get("a")


def test_a_removed_node_with_pods_stays_as_a_ghost_and_comes_back_at_the_end_of_its_zone(cache: Cache) -> None:
    for name in ("a", "b"):
        cache.add_node(make_node(name))
    cache.add_pod(make_pod("p", "a"))

    cache.remove_node(make_node("a"))
    ghost = cache.nodes.get("a")
    assert ghost is not None
    assert (ghost.node, ghost.requested.milli_cpu, ghost.allocatable.milli_cpu) == (None, 1000, 4000)
    assert names(cache) == ["a", "b"]

    cache.add_node(make_node("a"))
    assert cache.node_tree.list() == ["b", "a"]


def test_a_ghost_is_removed_with_its_last_pod(cache: Cache) -> None:
    cache.add_node(make_node("a"))
    cache.add_pod(make_pod("p", "a"))
    cache.remove_node(make_node("a"))

    cache.remove_pod(make_pod("p", "a"))

    assert names(cache) == []


def test_zones_are_visited_in_turn_and_an_emptied_zone_returns_last(cache: Cache) -> None:
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("c1", "c")):
        cache.add_node(make_node(name, zone=zone))
    assert cache.node_tree.list() == ["a1", "b1", "c1", "a2"]

    cache.remove_node(make_node("b1", zone="b"))
    cache.add_node(make_node("b1", zone="b"))

    assert cache.node_tree.zones == [":\x00:a", ":\x00:c", ":\x00:b"]


def test_a_zone_change_reorders_the_snapshot_only_with_the_next_added_or_removed_node(cache: Cache) -> None:
    snapshot = Snapshot()
    for name, zone in (("a1", "a"), ("b1", "b"), ("a2", "a")):
        cache.add_node(make_node(name, zone=zone))
    cache.update_snapshot(snapshot)

    cache.update_node(make_node("a1", zone="a"), make_node("a1", zone="b"))
    cache.update_snapshot(snapshot)
    assert [info.name for info in snapshot.node_info_list] == ["a1", "b1", "a2"]

    cache.add_node(make_node("c1", zone="c"))
    cache.update_snapshot(snapshot)
    assert [info.name for info in snapshot.node_info_list] == cache.node_tree.list() == ["a2", "b1", "c1", "a1"]


def test_image_summaries_count_the_nodes_at_the_time_the_node_was_set(cache: Cache) -> None:
    cache.add_node(make_node("a", images=("nginx",)))
    cache.add_node(make_node("b", images=("nginx",)))

    counts = {info.name: info.image_states["nginx"].num_nodes for info in cache.nodes}
    assert counts == {"a": 1, "b": 2}

    cache.remove_node(make_node("a", images=("nginx",)))
    cache.remove_node(make_node("b", images=("nginx",)))
    assert cache.image_states.to_view() == {}


def test_an_assumed_pod_expires_after_its_deadline_and_not_at_it(cache: Cache) -> None:
    cache.add_node(make_node("a"))
    cache.assume_pod(make_pod("p", "a"))
    cache.finish_binding(make_pod("p", "a"), NANOS_PER_SECOND)
    assert cache.next_expiry() == 31 * NANOS_PER_SECOND

    assert cache.cleanup_assumed_pods(31 * NANOS_PER_SECOND) == []
    assert [info.name for info in cache.cleanup_assumed_pods(31 * NANOS_PER_SECOND + 1)] == ["p"]
    assert cache.pod_count == 0


def test_an_assumed_pod_does_not_expire_while_its_binding_runs(cache: Cache) -> None:
    cache.assume_pod(make_pod("p", "a"))

    assert cache.cleanup_assumed_pods(1000 * NANOS_PER_SECOND) == []


def test_without_a_ttl_nothing_expires(recorder: Recorder) -> None:
    cache = Cache(recorder, Generations())
    cache.assume_pod(make_pod("p", "a"))
    cache.finish_binding(make_pod("p", "a"), 0)

    assert cache.cleanup_assumed_pods(10**18) == []


def test_a_snapshot_visits_only_newer_nodes(cache: Cache) -> None:
    snapshot = Snapshot()
    for name in ("a", "b", "c"):
        cache.add_node(make_node(name))
    first = cache.update_snapshot(snapshot)
    assert (first.visited, first.update_all_lists) == (["c", "b", "a"], True)

    cache.assume_pod(make_pod("p", "b"))
    info = snapshot.get("b")
    second = cache.update_snapshot(snapshot)

    assert (second.visited, second.update_all_lists) == (["b"], False)
    assert snapshot.get("b") is info
    assert snapshot.rows().requested("cpu").tolist() == [0, 1000, 0]


def test_a_call_that_changes_nothing_records_nothing(cache: Cache, recorder: Recorder) -> None:
    snapshot = Snapshot()
    cache.add_node(make_node("a"))
    cache.update_snapshot(snapshot)
    recorder.drain()

    cache.update_snapshot(snapshot)
    cache.finish_binding(make_pod("p", "a"), 0)
    with pytest.raises(CacheError):
        cache.forget_pod(make_pod("p", "a"))

    assert recorder.drain() == []


def test_a_dump_is_a_copy(cache: Cache) -> None:
    cache.add_node(make_node("a"))
    cache.assume_pod(make_pod("p", "a"))

    dump = cache.dump()
    dump.nodes["a"].add_pod(PodInfo(make_pod("q", "a")))

    assert dump.assumed_pods == ["uid-p"]
    assert cache.pod_count == 1
