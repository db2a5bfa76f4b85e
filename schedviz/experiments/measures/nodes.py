"""Numbers of used and empty nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure

if TYPE_CHECKING:
    from schedviz.engine.framework.types import NodeInfo
    from schedviz.experiments.finished_trial import FinishedTrial


def is_used(info: NodeInfo) -> bool:
    """Whether a pod is on the node, DaemonSets aside."""
    return any(not pod.pod.is_of_daemon_set for pod in info.pods)


@measure("nodesUsed", title="Nodes with a pod, not counting DaemonSets", unit="nodes", better="lower")
def nodes_used(trial: FinishedTrial) -> float:
    return sum(map(is_used, trial.nodes))


@measure("nodesEmpty", title="Nodes without a pod, not counting DaemonSets", unit="nodes", better="higher")
def nodes_empty(trial: FinishedTrial) -> float:
    return sum(not is_used(info) for info in trial.nodes)
