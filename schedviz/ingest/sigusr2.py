"""Reads the dump that kube-scheduler writes to its log on SIGUSR2: text or JSON logging, also inside Docker's or CRI's log lines.

Older releases print less (no `Deleted:`, no `&`); what a line does not say is left at its default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.engine.cache.debugger.dumper import NODES_MESSAGE, QUEUE_MESSAGE, Dump, DumpedNode, DumpedPod
from schedviz.engine.framework.resource import Resource
from schedviz.ingest.errors import UnreadableFile

_RESOURCE: Final = re.compile(
    r"(Requested|Allocatable) Resources: ?&?\{MilliCPU:(-?\d+) Memory:(-?\d+) EphemeralStorage:(-?\d+) AllowedPodNumber:(-?\d+) "
    r"ScalarResources:map\[(.*)\]\}$"
)
_POD: Final = re.compile(r"name: (\S*), namespace: (\S*), uid: (\S*), phase: (\w*), nominated node: ?(\S*)$")
_CRI: Final = re.compile(r"^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] ")
_SUMMARY: Final = re.compile(r'summary="([^"]*)"')


class _Node:
    """A node while its lines are read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requested = Resource()
        self.allocatable = Resource()
        self.is_deleted = False
        self.pods: list[DumpedPod] = []
        self.nominated: list[DumpedPod] = []

    def finish(self) -> DumpedNode:
        return DumpedNode(self.name, self.requested, self.allocatable, self.is_deleted, tuple(self.pods), tuple(self.nominated))


class _Reading:
    """A dump while its lines are read. A new dump replaces the one before."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.found = False
        self.nodes: list[_Node] = []
        self.summary = ""
        self.pending: list[DumpedPod] = []
        #: Where pods go.
        self.pods: list[DumpedPod] | None = None

    def take(self, line: str) -> None:
        if f'"{NODES_MESSAGE}"' in line or line.endswith(NODES_MESSAGE):
            self.begin()
            self.found = True
        elif QUEUE_MESSAGE in line:
            self.begin_queue(line)
        elif line.startswith("Node name: "):
            self.found = True
            self.nodes.append(_Node(line.removeprefix("Node name: ").strip()))
            self.pods = None
        elif line.startswith("name: ") and self.pods is not None:
            self.take_pod(line)
        elif self.nodes:
            self.take_member(self.nodes[-1], line)

    def begin_queue(self, line: str) -> None:
        summary = _SUMMARY.search(line)
        self.summary = summary[1] if summary else ""
        self.found = True
        self.pods = self.pending = []

    def take_member(self, node: _Node, line: str) -> None:
        if line.startswith("Deleted: "):
            node.is_deleted = line.endswith("true")
        elif line.startswith("Scheduled Pods("):
            self.pods = node.pods
        elif line.startswith("Nominated Pods("):
            self.pods = node.nominated
        elif match := _RESOURCE.match(line):
            cpu, memory, storage, pods = (int(number) for number in match.groups()[1:5])
            scalar = {name: int(amount) for name, _, amount in (entry.rpartition(":") for entry in match[6].split())}
            resource = Resource(cpu, memory, storage, pods, scalar)
            if match[1] == "Requested":
                node.requested = resource
            else:
                node.allocatable = resource

    def take_pod(self, line: str) -> None:
        match = _POD.match(line)
        if match is not None and self.pods is not None:
            self.pods.append(DumpedPod(*match.groups()))

    def finish(self) -> Dump:
        return Dump(tuple(node.finish() for node in self.nodes), self.summary, tuple(self.pending))


def parse_dump(name: str, text: str) -> Dump:
    """The last dump in a log. Raises `UnreadableFile` where there is none."""
    reading = _Reading()
    for line in _plain_lines(text):
        reading.take(line)
    if not reading.found:
        raise UnreadableFile(f'{name}: there is no dump in it. Expected the log of kube-scheduler after SIGUSR2, with "{NODES_MESSAGE}".')
    return reading.finish()


def _plain_lines(text: str) -> Iterator[str]:
    """The lines of a dump without what the ways of logging put around them."""
    for raw in text.split("\n"):
        line = _CRI.sub("", raw.rstrip("\r"))
        if line.startswith("{"):
            yield from _from_json(line)
        else:
            yield line.removeprefix("\t")


def _from_json(line: str) -> Iterator[str]:
    try:
        record = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return
    if not isinstance(record, dict):
        return
    if isinstance(record.get("log"), str):
        yield from _plain_lines(record["log"].removesuffix("\n"))
    elif record.get("msg") == NODES_MESSAGE:
        yield f'"{NODES_MESSAGE}"'
        yield from str(record.get("nodes", "")).split("\n")
    elif record.get("msg") == QUEUE_MESSAGE:
        yield f'"{QUEUE_MESSAGE}" summary="{record.get("summary", "")}"'
        yield from str(record.get("pods", "")).split("\n")
