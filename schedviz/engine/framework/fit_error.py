"""Why no node fits: `Diagnosis`, and `FitError` with the message for the pod's condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from schedviz.engine.framework.status import Status

#: Node name -> why it was rejected. Nodes that were not evaluated are missing.
NodeToStatusMap = dict[str, Status]


class Diagnosis(msgspec.Struct):
    """The diagnosis of a failed attempt. Upstream: framework/types.go Diagnosis"""

    node_to_status: NodeToStatusMap = msgspec.field(default_factory=dict)
    unschedulable_plugins: set[str] = msgspec.field(default_factory=set)
    pre_filter_msg: str = ""
    post_filter_msg: str = ""


class FitError(msgspec.Struct):
    """No node fits a pod. A value, not an exception. Upstream: framework/types.go FitError"""

    pod: str
    num_all_nodes: int
    diagnosis: Diagnosis

    @property
    def message(self) -> str:
        """`0/N nodes are available: <PreFilter>. <n reason, n reason>. <PostFilter>.` Upstream: framework/types.go FitError.Error"""
        diagnosis = self.diagnosis
        parts = [
            diagnosis.pre_filter_msg,
            ", ".join(reasons_histogram(diagnosis.node_to_status.values())),
            diagnosis.post_filter_msg,
        ]
        return f"0/{self.num_all_nodes} nodes are available:" + "".join(f" {part}." for part in parts if part)


def reasons_histogram(statuses: Iterable[Status]) -> list[str]:
    """`<count> <reason>` for each distinct reason, sorted as strings (so 10 comes before 2), as upstream does."""
    held = list(statuses)
    by_identity = Counter(map(id, held))
    distinct = {id(status): status for status in held}
    reasons: Counter[str] = Counter()
    for identity, count in by_identity.items():
        for reason in distinct[identity].reasons:
            reasons[reason] += count
    return sorted(f"{count} {reason}" for reason, count in reasons.items())
