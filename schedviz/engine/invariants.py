"""Invariants of cache, snapshot and queue that hold between any two calls. A violation is a bug of the engine, never of its input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from schedviz.engine.cache import Cache, Snapshot
from schedviz.engine.cache.node_item import node_item
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo, QueuedPodInfo
from schedviz.engine.queue import SchedulingQueue
from schedviz.trace.heap import Heap


class InvariantError(AssertionError):
    """An invariant does not hold. `what` names it and where it was found; `story` is the history of the object, where it is known."""

    def __init__(self, what: str, story: Iterable[str] = ()) -> None:
        self.what = what
        self.story = list(story)
        super().__init__("\n  ".join([what, *self.story]))


Story = Callable[[str], Iterable[str]]


def validate_state(
    cache: Cache, snapshot: Snapshot, queue: SchedulingQueue, *, pods_seen: bool = True, nodes_seen: bool = True, story: Story | None = None
) -> None:
    """Check all invariants; this costs about as much as building the state. Raises InvariantError, with `story(pod or node)` attached.

    See `validate_cache` for `pods_seen` and `nodes_seen`.
    """
    try:
        validate_cache(cache, pods_seen=pods_seen, nodes_seen=nodes_seen)
        validate_snapshot(cache, snapshot)
        validate_queue(queue)
    except InvariantError as error:
        if story is None or not error.args:
            raise
        subject = error.what.split(":", 1)[0]
        raise InvariantError(error.what, story(subject)) from error


def validate_cache(cache: Cache, *, pods_seen: bool = True, nodes_seen: bool = True) -> None:
    """Check the cache alone.

    `pods_seen`, `nodes_seen`: the event handlers saw all versions of pods and of nodes that the informers stored. Otherwise, as upstream, a
    node's sums may differ from what its pods request, since the next event subtracts a version of a pod that was never added; and node tree
    and images may differ from the nodes, since an update does not add a node to the tree if pods kept its NodeInfo.
    """
    _list_is_linked_by_generation(cache)
    _pod_states_match_nodes(cache)
    for info in cache.nodes if pods_seen else ():
        _sums_match_pods(info)
    _tree_is_consistent(cache)
    if nodes_seen:
        _tree_matches_nodes(cache)
        _images_match_nodes(cache)


def _list_is_linked_by_generation(cache: Cache) -> None:
    seen: list[str] = []
    item, before = cache.nodes.head, None
    while item is not None:
        name = item.info.name
        _require(item.prev is before, name, "prev is not the item before it")
        _require(cache.nodes.items.get(name) is item, name, "the list and the map have different items")
        _require(
            before is None or before.info.generation > item.info.generation,
            name,
            f"generation {item.info.generation} is not below its prev's",
        )
        _require(item.info.generation <= cache.generations.last, name, "its generation was never given out")
        seen.append(name)
        _require(len(seen) <= len(cache.nodes), name, "the list is longer than the map: it has a loop")
        item, before = item.next, item
    _require(len(seen) == len(cache.nodes), "cache", f"the list has {len(seen)} items and the map {len(cache.nodes)}")


def _pod_states_match_nodes(cache: Cache) -> None:
    on_nodes = Counter(pod.uid for info in cache.nodes for pod in info.pods)
    for uid, count in on_nodes.items():
        _require(count == 1, uid, f"is on nodes {count} times")
        _require(uid in cache.pod_states, uid, "is on a node and not in podStates")
    for uid, state in cache.pod_states.items():
        _require(uid in on_nodes, uid, "is in podStates and on no node")
        name = state.info.pod.spec.node_name
        info = cache.nodes.get(name)
        _require(info is not None and any(pod.uid == uid for pod in info.pods), uid, f"is not on {name}")
        pending = uid in cache.assumed_pods or cache.keeps_binding_finished
        _require(pending or not state.binding_finished, uid, "has finished binding and is not assumed")
        _require(state.deadline is None or state.binding_finished, uid, "has a deadline before its binding finished")
    for uid in cache.assumed_pods:
        _require(uid in cache.pod_states, uid, "is assumed and not in podStates")
    for info in cache.nodes:
        _require(info.node is not None or bool(info.pods), info.name, "is a ghost without pods")


def _sums_match_pods(info: NodeInfo) -> None:
    """The sums equal those of the same pods added to an empty node one by one."""
    recomputed = NodeInfo(info.name, Generations())
    for pod in info.pods:
        recomputed.add_pod(pod)
    for member in ("milli_cpu", "memory", "ephemeral_storage"):
        for sums in ("requested", "non_zero_requested"):
            actual, expected = getattr(getattr(info, sums), member), getattr(getattr(recomputed, sums), member)
            _require(actual == expected, info.name, f"{sums}.{member} is {actual}, its pods make {expected}")
    scalars = info.requested.scalar
    for name in scalars.keys() | recomputed.requested.scalar.keys():
        _require(scalars.get(name, 0) == recomputed.requested.scalar.get(name, 0), info.name, f"requested {name} is not what its pods make")
    _require(info.pvc_ref_counts == recomputed.pvc_ref_counts, info.name, "pvcRefCounts is not what its pods make")
    _require(
        _uids(info.pods_with_affinity) == _uids(recomputed.pods_with_affinity), info.name, "podsWithAffinity is not what its pods make"
    )
    _require(
        _uids(info.pods_with_required_anti_affinity) == _uids(recomputed.pods_with_required_anti_affinity),
        info.name,
        "podsWithRequiredAntiAffinity is not what its pods make",
    )
    # A port that two pods use becomes free when one of them leaves, so ports may be missing, but none may be left over.
    for ip, ports in info.used_ports.by_ip.items():
        _require(bool(ports) and ports <= recomputed.used_ports.by_ip.get(ip, set()), info.name, f"a port of {ip} is used by no pod")


def _tree_is_consistent(cache: Cache) -> None:
    tree = cache.node_tree
    _require(sorted(tree.tree) == sorted(tree.zones), "node tree", "zones are not those of the tree")
    names = tree.list()
    _require(len(names) == tree.num_nodes, "node tree", f"numNodes is {tree.num_nodes}, there are {len(names)}")
    _require(all(tree.tree.values()), "node tree", "a zone is empty")


def _tree_matches_nodes(cache: Cache) -> None:
    names = cache.node_tree.list()
    _require(len(names) == len(set(names)), "node tree", "a node is in two zones")
    node_names = {info.name for info in cache.nodes if info.node is not None}
    _require(set(names) == node_names, "node tree", f"its nodes are not the cache's: {sorted(set(names) ^ node_names)}")


def _images_match_nodes(cache: Cache) -> None:
    expected: dict[str, set[str]] = {}
    for info in cache.nodes:
        for image in info.node.status.images if info.node is not None else ():
            for name in image.names:
                expected.setdefault(name, set()).add(info.name)
    actual = {name: set(image.nodes) for name, image in cache.image_states.to_view().items()}
    _require(actual == expected, "images", "imageStates is not what the nodes have")


def validate_snapshot(cache: Cache, snapshot: Snapshot) -> None:
    """Check the snapshot: against itself and, where it is up to date, against the cache."""
    for name, info in snapshot.node_info_map.items():
        _require(info.name == name, name, "the snapshot has another NodeInfo under its name")
        _require(info.node is not None, name, "the snapshot has a NodeInfo without a node")
        cached = cache.nodes.get(name)
        if cached is not None and cached.generation == info.generation:
            _require(cached is not info, name, "the snapshot shares the cache's NodeInfo")
            _require(node_item(cached) == node_item(info), name, "the snapshot's NodeInfo differs from the cache's of the same generation")
    for infos in (
        snapshot.node_info_list,
        snapshot.have_pods_with_affinity_node_info_list,
        snapshot.have_pods_with_required_anti_affinity_node_info_list,
    ):
        for info in infos:
            _require(snapshot.node_info_map.get(info.name) is info, info.name, "a list of the snapshot has a NodeInfo that its map has not")
    _columns_match(snapshot)


def _columns_match(snapshot: Snapshot) -> None:
    rows = snapshot.rows()
    infos = snapshot.node_info_list
    _require(list(rows.infos) == infos, "columns", "rows are not the snapshot's list")
    resources = ["cpu", "memory", "ephemeral-storage", *sorted({name for info in infos for name in info.requested.scalar})]
    for resource in resources:
        for name, column in (("allocatable", rows.allocatable(resource)), ("requested", rows.requested(resource))):
            expected = [_amount(getattr(info, name), resource) for info in infos]
            _require(column.tolist() == expected, "columns", f"{name} {resource} is not what the NodeInfos have")
    _require(rows.pod_count().tolist() == [len(info.pods) for info in infos], "columns", "pod counts are not what the NodeInfos have")
    _require(
        rows.non_zero_requested("cpu").tolist() == [info.non_zero_requested.milli_cpu for info in infos],
        "columns",
        "non-zero requested cpu is not what the NodeInfos have",
    )


def _amount(amounts: object, resource: str) -> int:
    member = {"cpu": "milli_cpu", "memory": "memory", "ephemeral-storage": "ephemeral_storage"}.get(resource)
    value: int = getattr(amounts, member) if member else amounts.scalar.get(resource, 0)  # type: ignore[attr-defined]
    return value


def validate_queue(queue: SchedulingQueue) -> None:
    """Check the queue: heaps are ordered, and a pod is in one place."""
    for name, heap in (("activeQ", queue.active_q), *(("backoffQ", heap) for heap in queue.backoff_heaps())):
        _is_heap(name, heap)
        for queued in heap:
            _require(not queued.gated, queued.key, f"is gated and in {name}")
    where = Counter(queued.key for queued in queue.queued_pods())
    gated = {queued.key for queued in queue.unschedulable_pods if queued.gated}
    for key, count in where.items():
        # If a deletion was lost and a gated pod of the same name is added, upstream's Add returns before it removes the old one.
        _require(count == 1 or (count == 2 and key in gated), key, f"is in {count} of the three queues")
    _require(queue.move_request_cycle <= queue.scheduling_cycle, "queue", "moveRequestCycle is in the future")
    nominated = {pod.uid: node for node, pods in queue.nominator.nominated_pods.items() for pod in pods}
    _require(nominated == queue.nominator.nominated_pod_to_node, "nominator", "its two maps differ")
    _require(all(queue.nominator.nominated_pods.values()), "nominator", "a node has an empty list")


def _is_heap(name: str, heap: Heap[QueuedPodInfo]) -> None:
    array = list(heap)
    for index in range(1, len(array)):
        child, parent = array[index], array[(index - 1) // 2]
        _require(not heap.less(child, parent), child.key, f"is before its parent in {name}")
    for queued in array:
        _require(heap.get(queued.key) is queued, queued.key, f"is not found in {name} by its key")


def _uids(pods: Iterable[PodInfo]) -> list[str]:
    return sorted(pod.uid for pod in pods)


def _require(holds: bool, subject: str, what: str) -> None:  # noqa: FBT001 - reads as a sentence.
    if not holds:
        raise InvariantError(f"{subject}: {what}")
