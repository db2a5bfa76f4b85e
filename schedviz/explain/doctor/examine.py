"""The examinations: a dump with the API's objects, each of them alone, and an engine from its API to its snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.cache.debugger.comparer import compare
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.reporting.debugger import dump
from schedviz.explain.doctor.amounts import amounts
from schedviz.explain.doctor.counted_nodes import counted_nodes
from schedviz.explain.doctor.differences import Examination, KnownScheduler, difference, examination, note
from schedviz.explain.doctor.dump_only import alone
from schedviz.explain.doctor.evidence import Evidence
from schedviz.explain.doctor.nominations import nominations_of_dump, nominations_of_objects
from schedviz.explain.doctor.ports_and_images import ports_and_images
from schedviz.explain.doctor.presence import Presence
from schedviz.explain.doctor.sides import compare_informers_with_api, compare_snapshot_with_cache
from schedviz.explain.doctor.times import Times
from schedviz.explain.extenders import feasible_nodes, known_extenders
from schedviz.explain.finding import Finding
from schedviz.explain.queue_place import queue_place
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import counted, phrase, some

#: The number of pods of a queue in a dump's summary.
_COUNT: Final = re.compile(r"[0-9]{1,9}")

_NOTHING_SAID: Final[Mapping[str, str]] = MappingProxyType({})


def examine_dump(
    objects: Iterable[KubeObject],
    signal: Signal,
    *,
    earlier: Sequence[Signal] = (),
    scheduler: KnownScheduler = KnownScheduler(),  # noqa: B008  (frozen)
    name: str = "the log",
    said: Mapping[str, str] = _NOTHING_SAID,
) -> Examination:
    """Compare the API's objects with a dump; `earlier` are older dumps of the same scheduler, `said` its last messages by pod."""
    nodes, pods = _nodes_and_pods(objects)
    evidence = Evidence(signal, earlier)
    when = f" of {signal.at}" if signal.at else ""
    compared = f"the dump{when} in {name} with the API's objects"
    count = sum(len(node.pods) for node in signal.dump.nodes) + len(signal.dump.pending)
    if _have_nothing_in_common(nodes, pods, signal):
        findings = [_finding_about_another_cluster(len(nodes), signal)]
    else:
        times = Times(nodes, pods, signal, earlier)
        findings = [
            *Presence(nodes, pods, evidence, scheduler, times).findings(),
            *amounts(nodes, pods, signal.dump, scheduler, times),
            *ports_and_images(nodes, pods, signal.dump, scheduler),
            *nominations_of_dump(nodes, pods, signal.dump, scheduler),
            *counted_nodes(said, pods, nodes=nodes, cached=_cached(signal)),
            *_inside(signal),
            *times.note(),
        ]
    return examination(compared, findings, nodes=len(signal.dump.nodes), pods=count)


def examine_dump_alone(signal: Signal, *, name: str = "the log", said: Mapping[str, str] = _NOTHING_SAID) -> Examination:
    """Examine a dump without API objects; `said` are the last messages of its scheduler by pod."""
    count = sum(len(node.pods) for node in signal.dump.nodes) + len(signal.dump.pending)
    when = f" of {signal.at}" if signal.at else ""
    findings = [*counted_nodes(said, {}, nodes=None, cached=_cached(signal)), *alone(signal), *_inside(signal)]
    return examination(f"the dump{when} in {name} by itself", findings, nodes=len(signal.dump.nodes), pods=count)


def examine_objects(
    objects: Iterable[KubeObject],
    *,
    scheduler: KnownScheduler = KnownScheduler(),  # noqa: B008  (frozen)
    said: Mapping[str, str] = _NOTHING_SAID,
) -> Examination:
    """Examine objects without a dump: pods on deleted nodes, overcommitted nodes, endless nominations, messages that count other nodes."""
    nodes, pods = _nodes_and_pods(objects)
    findings = [
        *_strays(nodes, pods.values()),
        *nominations_of_objects(nodes, list(pods.values()), scheduler),
        *counted_nodes(said, pods, nodes=nodes, cached=None),
    ]
    return examination("the API's objects among themselves", findings, nodes=len(nodes), pods=len(pods))


def examine_engine(simulation: Simulation) -> Examination:
    """Compare, in the current state of an engine, the API with informers, cache and queue, and the cache with the snapshot."""
    informers = simulation.scheduler.state.informers
    dumped = dump(simulation)
    mismatch = compare([node.name for node in informers.list("Node")], [pod.uid for pod in informers.list("Pod")], dumped)
    scheduler = scheduler_of_engine(simulation)
    objects = list(simulation.stored_objects())
    nodes, pods = _nodes_and_pods(objects)
    running = simulation.running_pod
    # First, because a dry run of a nominated pod updates the snapshot.
    snapshot = list(compare_snapshot_with_cache(simulation))

    def is_placed_next(pod: Pod, node: str) -> bool:
        place = queue_place(simulation, pod.key, count_ahead=False)
        return place is not None and place.is_tried_again and node in feasible_nodes(simulation, DryRun(simulation, pod))

    findings = [
        *compare_informers_with_api(simulation),
        *(
            found
            for found in Presence(nodes, pods, Evidence(Signal(dumped, mismatch)), scheduler).findings()
            if found.about != f"Pod {running}"
        ),
        *amounts(nodes, pods, dumped, scheduler),
        *ports_and_images(nodes, pods, dumped, scheduler),
        *nominations_of_dump(nodes, pods, dumped, scheduler, is_placed_next=is_placed_next),
        *snapshot,
    ]
    examined = examination("API, informers, cache, queue and snapshot of the engine", findings, nodes=len(nodes), pods=len(pods))
    return msgspec.structs.replace(examined, release=simulation.settings.release)


def scheduler_of_engine(simulation: Simulation) -> KnownScheduler:
    """What the doctor knows about the scheduler of an engine."""
    state = simulation.scheduler.state
    nominates = state.features.nominated_node_name_for_expectation
    return KnownScheduler(tuple(state.profiles), known_extenders(simulation), state.pod_info, nominates)


def _cached(signal: Signal) -> int:
    """The number of nodes that the scheduler iterates: a deleted node is in the dump only for its pods."""
    return sum(not node.is_deleted for node in signal.dump.nodes)


def _nodes_and_pods(objects: Iterable[KubeObject]) -> tuple[dict[str, Node], dict[str, Pod]]:
    every = list(objects)
    return {obj.name: obj for obj in every if isinstance(obj, Node)}, {obj.uid or obj.key: obj for obj in every if isinstance(obj, Pod)}


def _have_nothing_in_common(nodes: dict[str, Node], pods: dict[str, Pod], signal: Signal) -> bool:
    if not nodes or not signal.dump.nodes:
        return False
    dumped = {pod.uid for node in signal.dump.nodes for pod in node.pods}
    return nodes.keys().isdisjoint(node.name for node in signal.dump.nodes) and pods.keys().isdisjoint(dumped)


def _finding_about_another_cluster(nodes: int, signal: Signal) -> Finding:
    sentence = phrase(
        "none of the {dumped} nodes in the dump is among the {nodes} nodes in the objects, and no pod is in both",
        dumped=len(signal.dump.nodes),
        nodes=nodes,
    )
    cause = phrase("the log and the objects come from different clusters")
    return difference("nothing in common", "Cluster", ("API", "dump"), sentence, cause, phrase("collect both from the same cluster"))


def _inside(signal: Signal) -> Iterator[Finding]:
    """Whether the dump is consistent with itself."""
    parts = [part.rpartition(":") for part in signal.dump.summary.split("; ") if ":" in part]
    counts = [int(count) for _, _, count in parts if _COUNT.fullmatch(count)]
    if counts and sum(counts) != len(signal.dump.pending):
        sentence = phrase(
            "the queue's summary counts {count} pods ({summary}), but {listed} are listed",
            count=sum(counts),
            summary=signal.dump.summary,
            listed=len(signal.dump.pending),
        )
        yield note("cut dump", "Queue", ("dump", "dump"), sentence, phrase("lines of the log are missing, or the log was truncated"))


def _strays(nodes: dict[str, Node], pods: Iterable[Pod]) -> Iterator[Finding]:
    missing: dict[str, list[str]] = {}
    for pod in pods:
        if pod.spec.node_name and pod.spec.node_name not in nodes and not pod.is_finished:
            missing.setdefault(pod.spec.node_name, []).append(pod.key)
    for name, keys in sorted(missing.items()) if nodes else ():
        sentence = phrase(
            ("{pods} bound to node {node}, which does not exist in the API server ({names}): a scheduler keeps such a node in its cache"),
            pods=counted(len(keys), "{count} pod is", "{count} pods are"),
            node=name,
            names=some(keys),
        )
        cause = phrase("the node was deleted before its pods, or not all nodes were collected")
        advice = phrase("the pod garbage collector removes such pods")
        yield difference("ghost node", f"Node {name}", ("API", "API"), sentence, cause, advice)
