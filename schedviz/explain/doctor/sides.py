"""Compares the parts of an engine: informers with the API, the snapshot with the cache."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine import Simulation
from schedviz.engine.framework.types import NodeInfo
from schedviz.explain.doctor.amounts import differing
from schedviz.explain.doctor.differences import difference, note
from schedviz.explain.finding import Finding
from schedviz.trace.phrase import phrase, some


def compare_informers_with_api(simulation: Simulation) -> Iterator[Finding]:
    """Nodes and pods of which the informers have another version than the API server: their watch events are in flight, or were lost."""
    cached_objects = simulation.scheduler.state.informers.objects()
    under_way = phrase("a watch event is in flight or was lost")
    for kind in ("Node", "Pod"):
        stored = {obj.key: obj for obj in simulation.stored_objects() if type(obj).__name__ == kind}
        cached = cached_objects.get(kind, {})
        for key in sorted(stored.keys() | cached.keys()):
            in_store, in_cache = stored.get(key), cached.get(key)
            if in_store is None or in_cache is None:
                sentence = (
                    phrase("{object} is in the API server, but not in the informers", object=f"{kind.lower()} {key}")
                    if in_cache is None
                    else phrase("{object} is in the informers, but not in the API server", object=f"{kind.lower()} {key}")
                )
                yield note("watch under way", f"{kind} {key}", ("API", "informers"), sentence, under_way)
            elif in_store.metadata.resource_version != in_cache.metadata.resource_version:
                sentence = phrase(
                    "{object} is at version {stored} in the API server, and at {known} in the informers",
                    object=f"{kind.lower()} {key}",
                    stored=in_store.metadata.resource_version,
                    known=in_cache.metadata.resource_version,
                )
                yield note("watch under way", f"{kind} {key}", ("API", "informers"), sentence, under_way)


def compare_snapshot_with_cache(simulation: Simulation) -> Iterator[Finding]:
    """NodeInfos of the snapshot that differ from the cache although UpdateSnapshot would not update them."""
    state = simulation.scheduler.state
    snapshot = state.snapshot
    cached = {info.name: info for info in state.cache.nodes}
    waiting = [info.name for info in cached.values() if info.node is not None and info.generation > snapshot.generation]
    if waiting:
        sentence = phrase(
            "{count} nodes changed in the cache since the snapshot was taken ({nodes})", count=len(waiting), nodes=some(waiting)
        )
        copied = phrase("the next cycle copies them")
        yield note("snapshot is older", "Snapshot", ("cache", "snapshot"), sentence, None, copied)
    for name, copy in sorted(snapshot.node_info_map.items()):
        info = cached.get(name)
        if info is None or info.node is None:
            sentence = phrase("node {node} is in the snapshot but not in the cache", node=name)
            left_out = phrase("the next cycle leaves it out")
            yield note("snapshot is older", f"Node {name}", ("cache", "snapshot"), sentence, None, left_out)
        elif info.generation <= snapshot.generation and _differ(info, copy):
            sentence = phrase(
                "node {node} differs between cache and snapshot although its generation {generation} is equal",
                node=name,
                generation=str(info.generation),
            )
            cause = phrase("a NodeInfo was changed without a new generation: UpdateSnapshot will never copy it again")
            values = differing(copy.requested, info.requested)
            bug = phrase("a bug of this engine")
            yield difference("stale snapshot", f"Node {name}", ("cache", "snapshot"), sentence, cause, bug, values)


def _differ(first: NodeInfo, second: NodeInfo) -> bool:
    pods = {pod.uid for pod in first.pods} != {pod.uid for pod in second.pods}
    return pods or bool(differing(first.requested, second.requested)) or bool(differing(first.allocatable, second.allocatable))
