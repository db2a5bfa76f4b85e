"""Parses the dumps that kube-scheduler logs on SIGUSR2, of releases 1.13 to 1.36: the comparer's findings, nodes with pods, the queue.

Older releases log less (no `Deleted:`, no summary), newer ones log JSON; missing values have their defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from schedviz.engine.cache.debugger.comparer import Mismatch
from schedviz.engine.cache.debugger.dumper import NODES_MESSAGE, QUEUE_MESSAGE, Dump, DumpedNode, DumpedPod
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.engine.framework.resource import Resource
from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.logs.klog import Record, records
from schedviz.ingest.logs.log_lines import log_lines

#: Numbers have 64 bits; a line with a longer one is not kube-scheduler's.
_RESOURCE: Final = re.compile(
    r"(Requested|Allocatable) Resources: ?&?\{MilliCPU:(-?\d{1,18}) Memory:(-?\d{1,18}) EphemeralStorage:(-?\d{1,18}) "
    r"AllowedPodNumber:(-?\d{1,18}) "
    r"ScalarResources:map\[(.*)\]\}$"
)
_SCALAR: Final = re.compile(r"(.*):([0-9]{1,18})")
_POD: Final = re.compile(r"name: (\S*), namespace: (\S*), uid: (\S*), phase: (\w*)(?:, nominated node: ?(\S*))?$")
_MISMATCH: Final = "Cache mismatch"
#: Until 1.18: `cache mismatch: missed nodes: [a b]; redundant nodes: []`
_OLD_MISMATCH: Final = re.compile(r"cache mismatch: missed (nodes|pods): \[(.*?)\]; redundant \w+: \[(.*?)\]")
_MEMBERS: Final = {
    "missedNodes": "missed_nodes",
    "redundantNodes": "redundant_nodes",
    "missedPods": "missed_pods",
    "redundantPods": "redundant_pods",
}
_NODE: Final = "Node name: "


class _Node:
    """A node while its lines are parsed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requested = Resource()
        self.allocatable = Resource()
        self.is_deleted = False
        self.pods: list[DumpedPod] = []
        self.nominated: list[DumpedPod] = []

    def finish(self) -> DumpedNode:
        return DumpedNode(self.name, self.requested, self.allocatable, self.is_deleted, tuple(self.pods), tuple(self.nominated))


class _UnfinishedDump:
    """A dump while it is parsed."""

    def __init__(self, mismatch: Mismatch | None, at: str, seconds: float | None, check_room: Callable[[int], None]) -> None:
        self._check_room = check_room
        self.mismatch, self.at, self.seconds = mismatch, at, seconds
        self.nodes: list[_Node] = []
        self.summary = ""
        self.pending: list[DumpedPod] = []
        self.has_queue = False
        #: The list to which pods are added.
        self._pods: list[DumpedPod] | None = None

    def take_lines(self, lines: Iterable[str]) -> None:
        for raw in lines:
            line = raw.lstrip()
            if line.startswith(_NODE):
                self._check_room(len(self.nodes))
                self.nodes.append(_Node(line.removeprefix(_NODE).strip()))
                self._pods = None
            elif line.startswith("name: ") and self._pods is not None:
                self._take_pod(line)
            elif QUEUE_MESSAGE in line:
                self.begin_queue("")
            elif self.nodes:
                self._take_member(self.nodes[-1], line.strip())

    def begin_queue(self, summary: str) -> None:
        self.summary, self.has_queue = summary, True
        self._pods = self.pending

    def _take_member(self, node: _Node, line: str) -> None:
        if line.startswith("Deleted: "):
            node.is_deleted = line.endswith("true")
        elif line.startswith(("Scheduled Pods(", "Pods:")):
            self._pods = node.pods
        elif line.startswith("Nominated Pods("):
            self._pods = node.nominated
        elif match := _RESOURCE.match(line):
            cpu, memory, storage, pods = (int(number) for number in match.groups()[1:5])
            scalar = {entry[1]: int(entry[2]) for entry in map(_SCALAR.fullmatch, match[6].split()) if entry is not None}
            resource = Resource(cpu, memory, storage, pods, scalar)
            if match[1] == "Requested":
                node.requested = resource
            else:
                node.allocatable = resource

    def _take_pod(self, line: str) -> None:
        match = _POD.match(line.rstrip())
        if match is not None and self._pods is not None:
            self._pods.append(DumpedPod(*match.groups(default="")))

    def finish(self) -> Signal:
        dump = Dump(tuple(node.finish() for node in self.nodes), self.summary, tuple(self.pending))
        return Signal(dump, self.mismatch, self.at, self.seconds)


class Signals:
    """Collects the dumps of a log, record by record, in order."""

    def __init__(self, check_room: Callable[[int], None] = lambda _: None) -> None:
        """`check_room` is called with the growing number of a dump's nodes, and may raise."""
        self._check_room = check_room
        self.found: list[Signal] = []
        #: The comparer's findings since the last dump.
        self._mismatch = Mismatch()
        self._unfinished: _UnfinishedDump | None = None

    def add_record(self, record: Record) -> None:
        """Process one record."""
        if record.message == NODES_MESSAGE:
            self._begin(record)
            self._nodes(record)
        elif record.message.startswith(QUEUE_MESSAGE):
            self._queue(record)
        elif record.message == _MISMATCH:
            self._compared(record.values)
        elif (old := _OLD_MISMATCH.match(record.message)) is not None:
            kind = old[1].capitalize()
            self._compared({f"missed{kind}": old[2].split(), f"redundant{kind}": old[3].split()})
        elif any(line.lstrip().startswith(_NODE) for line in (record.message, *record.lines)):
            self._pasted(record)

    @property
    def count(self) -> int:
        """The number of dumps so far."""
        return len(self.found) + (self._unfinished is not None)

    def finish(self) -> list[Signal]:
        """The dumps, the last one last."""
        self._end()
        return self.found

    def _begin(self, record: Record) -> None:
        self._end()
        self._unfinished = _UnfinishedDump(self._mismatch, record.at, record.seconds, self._check_room)
        self._mismatch = Mismatch()

    def _end(self) -> None:
        if self._unfinished is not None:
            self.found.append(self._unfinished.finish())
            self._unfinished = None

    def _nodes(self, record: Record) -> None:
        assert self._unfinished is not None
        nodes = record.values.get("nodes")
        if isinstance(nodes, list):
            self._unfinished.nodes += [_structured_node(node) for node in nodes if isinstance(node, dict)]
        else:
            self._unfinished.take_lines([*str(nodes or "").split("\n"), *record.lines])

    def _queue(self, record: Record) -> None:
        if self._unfinished is None:
            self._begin(record)
        assert self._unfinished is not None
        self._unfinished.begin_queue(str(record.values.get("summary", "")))
        pods = record.values.get("pods")
        if isinstance(pods, list):
            self._unfinished.pending += [_structured_pod(pod) for pod in pods if isinstance(pod, dict)]
        else:
            self._unfinished.take_lines([*str(pods or "").split("\n"), *record.lines])
        self._end()

    def _compared(self, values: dict[str, Any]) -> None:
        members = {member: [str(name) for name in values[key]] for key, member in _MEMBERS.items() if isinstance(values.get(key), list)}
        self._mismatch = msgspec.structs.replace(self._mismatch, **members)

    def _pasted(self, record: Record) -> None:
        """Node lines without the head of the dump, or, until 1.18, one record for each node."""
        if self._unfinished is None:
            self._unfinished = _UnfinishedDump(None, record.at, record.seconds, self._check_room)
        self._unfinished.take_lines([record.message, *record.lines])


def _structured_node(node: dict[str, Any]) -> _Node:
    result = _Node(str(node.get("name", "")))
    result.is_deleted = node.get("deleted") is True
    result.requested, result.allocatable = _structured_resource(node.get("requested")), _structured_resource(node.get("allocatable"))
    result.pods = [_structured_pod(pod) for pod in node.get("pods") or () if isinstance(pod, dict)]
    result.nominated = [_structured_pod(pod) for pod in node.get("nominatedPods") or () if isinstance(pod, dict)]
    return result


def _structured_pod(pod: dict[str, Any]) -> DumpedPod:
    return DumpedPod(*(str(pod.get(member, "")) for member in ("name", "namespace", "uid", "phase", "nominatedNode")))


def _structured_resource(amounts: Any) -> Resource:
    if not isinstance(amounts, dict):
        return Resource()
    cpu, memory, storage, pods = (
        amount if isinstance(amount := amounts.get(member), int) else 0
        for member in ("milliCPU", "memory", "ephemeralStorage", "allowedPodNumber")
    )
    scalar = amounts.get("scalarResources") or {}
    counted = {str(name): amount for name, amount in scalar.items() if isinstance(amount, int)} if isinstance(scalar, dict) else {}
    return Resource(cpu, memory, storage, pods, counted)


def read_signals(name: str, text: bytes) -> list[Signal]:
    """The dumps in a log, the last one last. Raises `UnreadableFile` if there is none."""
    signals = Signals()
    for record in records(log_lines(text)):
        signals.add_record(record)
    results = signals.finish()
    if not results:
        raise UnreadableFile(f'{name}: it contains no dump. Expected the log of kube-scheduler after SIGUSR2, with "{NODES_MESSAGE}".')
    return results
