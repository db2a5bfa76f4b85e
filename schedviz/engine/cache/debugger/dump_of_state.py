"""The dump of a recorded state: FORMAT.md's `cache` and `queue`, completed from the API's objects.

A state has the pods of each node and queue in order, and the sums of nodes. A pod's line also needs uid, phase and nominated node, which
come from the objects. For a pod that the API no longer has, only the cache's uid is known; it is shown as Running if it was confirmed, and
as Pending if it is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from schedviz.engine.cache.debugger.comparer import Mismatch, compare
from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode, DumpedPod, fnv1a_64
from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.framework.resource import Resource
from schedviz.kube.core import Pod
from schedviz.trace.view import Resources


class _Item(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    has_node: bool
    pod_order: list[str]
    requested: Resources
    allocatable: Resources
    #: IP -> `TCP/80`.
    used_ports: dict[str, list[str]] = {}
    image_states: dict[str, Any] = {}


class _PodState(msgspec.Struct, frozen=True, rename="camel"):
    pod: str
    node: str
    assumed: bool = False


class _Cache(msgspec.Struct, frozen=True, rename="camel"):
    nodes: list[_Item] = msgspec.field(name="list")
    pod_states: dict[str, _PodState]


class _Queued(msgspec.Struct, frozen=True):
    pod: str


class _Queue(msgspec.Struct, frozen=True, rename="camel"):
    active_q: list[_Queued] = msgspec.field(name="activeQ")
    backoff_q: list[_Queued] = msgspec.field(name="backoffQ")
    unschedulable: list[_Queued]
    nominated: dict[str, list[str]] = {}
    #: v1.36: the pods of backoffQ that failed with an error; None: the state is that of v1.27.1.
    error_backoff_q: list[_Queued] | None = msgspec.field(default=None, name="errorBackoffQ")


class ObservedState(msgspec.Struct, frozen=True):
    """The part of an observed state that a dump needs. Other members are ignored."""

    cache: _Cache
    queue: _Queue


def dump_of_state(state: ObservedState, pods: Iterable[Pod]) -> Dump:
    """The dump of a scheduler in this state; nodes, and pods of each queue, are in recorded order (see `dumper.dump_of`)."""
    known = _Known(state.cache.pod_states, pods)
    queue = state.queue
    queues = {
        "activeQ": (queue.active_q,),
        "backoffQ": (queue.backoff_q, queue.error_backoff_q or []),
        "unschedulablePods": (queue.unschedulable,),
    }
    return Dump(
        nodes=tuple(
            _node(item, known, queue.nominated.get(item.name, []))
            for item in sorted(state.cache.nodes, key=lambda item: fnv1a_64(item.name))
        ),
        summary="; ".join(f"{name}:{sum(map(len, heaps))}" for name, heaps in queues.items()),
        pending=tuple(
            known.pending(queued.pod)
            for heaps in queues.values()
            for heap in heaps
            for queued in sorted(heap, key=lambda queued: fnv1a_64(queued.pod))
        ),
    )


def lines_of_state(
    state: ObservedState, node_names: Iterable[str], pods: Sequence[Pod], *, stale: bool = False, verbosity: int = 2, at: int | None = None
) -> list[LogLine]:
    """The log lines of SIGUSR2: the comparer's, then the dumper's.

    The comparer needs the informers, which a state does not have. They are taken to know the API's objects without finished pods or, if
    they are `stale`, what the cache knows. `at` is in nanoseconds since 1970.
    """
    dump = dump_of_state(state, pods)
    uids = [pod.uid for pod in pods if not pod.is_finished]
    mismatch = Mismatch() if stale else compare(node_names, uids, dump)
    at = EPOCH_SECONDS * SECOND if at is None else at
    is_v1_36 = state.queue.error_backoff_q is not None
    return [line for line in [*mismatch.lines(at, as_json=is_v1_36), *dump.lines(at)] if line.verbosity <= verbosity]


def _node(item: _Item, known: _Known, nominated: Iterable[str]) -> DumpedNode:
    return DumpedNode(
        name=item.name,
        requested=_resource(item.requested),
        allocatable=_resource(item.allocatable),
        is_deleted=not item.has_node,
        pods=tuple(known.on_node(key, item.name) for key in item.pod_order),
        nominated=tuple(known.pending(key) for key in nominated),
        ports=frozenset(
            (ip, port.partition("/")[0], int(port.partition("/")[2])) for ip, ports in item.used_ports.items() for port in ports
        ),
        images=frozenset(item.image_states),
    )


def _resource(amounts: Resources) -> Resource:
    return Resource(amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage, amounts.allowed_pod_number, dict(amounts.scalar))


class _Known:
    """The known details of pods that a state names by key."""

    def __init__(self, states: Mapping[str, _PodState], pods: Iterable[Pod]) -> None:
        self._by_uid = {pod.uid: pod for pod in pods}
        self._by_key = {pod.key: pod for pod in self._by_uid.values()}
        self._states = states
        #: (Key, node) -> uids; several if pods of one name were on one node.
        self._uids: dict[tuple[str, str], list[str]] = {}
        for uid, state in states.items():
            self._uids.setdefault((state.pod, state.node), []).append(uid)

    def on_node(self, key: str, node: str) -> DumpedPod:
        """A pod in the cache. Each call for a key takes the next uid."""
        uids = self._uids.get((key, node), [])
        if not uids:
            return self.pending(key)
        uid = uids.pop(0)
        if uid in self._by_uid:
            return DumpedPod.of(self._by_uid[uid])
        namespace, _, name = key.partition("/")
        return DumpedPod(name, namespace, uid, "Pending" if self._states[uid].assumed else "Running")

    def pending(self, key: str) -> DumpedPod:
        """A pod in the queue; its uid is "" if the API does not have it."""
        pod = self._by_key.get(key)
        if pod is not None:
            return DumpedPod.of(pod)
        namespace, _, name = key.partition("/")
        return DumpedPod(name, namespace, "", "Pending")
