"""The pods that would have to leave a node so that another fits, searched as in preemption, but among all pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.preemption import more_important_first
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.explain.explanation import LeavingPods, NodeVerdict
from schedviz.kube.core import Pod

#: Nodes tried, those that lack least first: a dry run calls Filter once per pod on the node.
MAX_TRIED_NODES: Final = 8
#: Nodes reported.
MAX_ROOMS: Final = 3
_SYSTEM: Final = "kube-system"
#: Owners that make a pod for one node.
_OF_NODE: Final = frozenset({"DaemonSet", "Node"})
#: A taint that only the pods of DaemonSets tolerate without being told.
_OF_DAEMON_SETS: Final = "node.kubernetes.io/disk-pressure"


def room(dry_run: DryRun, verdicts: Sequence[NodeVerdict], now: int) -> tuple[LeavingPods, ...]:
    """The nodes on which the fewest pods would have to leave, the best first."""
    candidates = [row for row, verdict in enumerate(verdicts) if verdict.outlook == "pods leave"]
    shortage = _shortage(dry_run)
    candidates.sort(key=lambda row: (len(verdicts[row].objections), shortage[row]))
    leaving = [_pods_to_remove(dry_run, dry_run.rows.infos[row], now) for row in candidates[:MAX_TRIED_NODES]]
    found = ((_room(dry_run, info, pods), pods) for info, pods in leaving if pods)
    # Preemption evicts such pods, too; people do not.
    rooms = [each for each, pods in found if each.by_preemption or not any(belongs_to_system(info.pod) for info in pods)]
    rooms.sort(key=lambda room: (not room.by_preemption, room.highest_priority, len(room.pods)))
    return tuple(rooms[:MAX_ROOMS])


def belongs_to_system(pod: Pod) -> bool:
    """Whether a pod belongs to its node or to the cluster's own software: nobody removes it to make room.

    The pods of DaemonSets come back, and those of the system namespace are needed. Where owners are unknown, a pod that tolerates every
    taint, or that a DaemonSet's tolerations mark, counts as one of a DaemonSet.
    """
    if pod.namespace == _SYSTEM or any(owner.kind in _OF_NODE for owner in pod.metadata.owner_references):
        return True
    tolerations = pod.spec.tolerations
    return not pod.metadata.owner_references and any(
        (not each.key and each.operator == "Exists") or each.key == _OF_DAEMON_SETS for each in tolerations
    )


def _shortage(dry_run: DryRun) -> list[float]:
    """What each node lacks, relative to its capacity, summed over resources."""
    rows, requested = dry_run.rows, dry_run.pod.requests.resource
    amounts = {"cpu": requested.milli_cpu, "memory": requested.memory, "ephemeral-storage": requested.ephemeral_storage}
    total = np.zeros(len(rows), np.float64)
    for resource, amount in {**amounts, **requested.scalar}.items():
        have = rows.allocatable(resource)
        lacking = np.maximum(amount - (have - rows.requested(resource)), 0)
        total += lacking / np.maximum(have, 1)
    shortages: list[float] = total.tolist()
    return shortages


def _pods_to_remove(dry_run: DryRun, info: NodeInfo, now: int) -> tuple[NodeInfo, list[PodInfo]]:
    """Remove all pods, then reprieve those that can stay, the most important first. Empty if that does not help."""
    node = dry_run.without_pods(info, info.pods)
    if not node.filter_status().is_success:
        return info, []
    leaving: list[PodInfo] = []
    for pod in more_important_first(info.pods, now):
        node.add(pod)
        if not node.filter_status().is_success:
            node.remove(pod)
            leaving.append(pod)
    return info, leaving


def _room(dry_run: DryRun, info: NodeInfo, leaving: Sequence[PodInfo]) -> LeavingPods:
    highest = max(other.priority for other in leaving)
    by_preemption = dry_run.framework.has_post_filter_plugins and could_preempt(dry_run.pod, highest)
    return LeavingPods(info.name, tuple(other.key for other in leaving), highest, by_preemption=by_preemption)


def could_preempt(pod: PodInfo, highest: int) -> bool:
    """Whether DefaultPreemption lets the pod evict pods of at most this priority."""
    return pod.pod.spec.preemption_policy != "Never" and highest < pod.priority
