"""Differences between the cache and the informers' stores: names of nodes and uids of pods.

Upstream: internal/cache/debugger/comparer.go
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedviz.engine.cache.debugger.dumper import Dump
from schedviz.engine.cache.debugger.log_line import JsonList, LogLine


class Mismatch(msgspec.Struct, frozen=True):
    """Nodes by name and pods by uid that only one side has, sorted."""

    missed_nodes: list[str] = []
    redundant_nodes: list[str] = []
    missed_pods: list[str] = []
    redundant_pods: list[str] = []

    def lines(self, at: int, *, as_json: bool = False) -> list[LogLine]:
        """The log lines, including those of verbosity 3. `as_json`: lists as v1.36 shows them. Upstream: comparer.go Compare"""
        show = JsonList if as_json else list
        lines = [LogLine(at, "debugger/comparer.go:42", "Cache comparer started", verbosity=3)]
        if self.missed_nodes or self.redundant_nodes:
            values = (("missedNodes", show(self.missed_nodes)), ("redundantNodes", show(self.redundant_nodes)))
            lines.append(LogLine(at, "debugger/comparer.go:60", "Cache mismatch", values))
        if self.missed_pods or self.redundant_pods:
            values = (("missedPods", show(self.missed_pods)), ("redundantPods", show(self.redundant_pods)))
            lines.append(LogLine(at, "debugger/comparer.go:64", "Cache mismatch", values))
        return [*lines, LogLine(at, "debugger/comparer.go:67", "Cache comparer finished", verbosity=3)]


def compare(node_names: Iterable[str], pod_uids: Iterable[str], dump: Dump) -> Mismatch:
    """Compare the listers with the dump. As upstream, a pending pod of another scheduler counts as missed."""
    cached = [pod.uid for node in dump.nodes for pod in node.pods]
    missed_nodes, redundant_nodes = compare_strings(node_names, (node.name for node in dump.nodes))
    missed_pods, redundant_pods = compare_strings(pod_uids, [*cached, *(pod.uid for pod in dump.pending)])
    return Mismatch(missed_nodes, redundant_nodes, missed_pods, redundant_pods)


def compare_strings(actual: Iterable[str], cached: Iterable[str]) -> tuple[list[str], list[str]]:
    """The strings missing from `cached`, and those that only `cached` has; duplicates count.

    Upstream: comparer.go compareStrings
    """
    left, right = sorted(actual), sorted(cached)
    missed, redundant = [], []
    i = j = 0
    while i < len(left) or j < len(right):
        if j == len(right) or (i < len(left) and left[i] < right[j]):
            missed.append(left[i])
            i += 1
        elif i == len(left) or left[i] > right[j]:
            redundant.append(right[j])
            j += 1
        else:
            i += 1
            j += 1
    return missed, redundant
