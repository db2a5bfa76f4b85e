"""Means over virtual time, for trials in which pods arrive or end. Trials whose pods are all there from the beginning have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial


@measure("meanUtilization", title="Utilization, mean over virtual time", unit="share", better="higher")
def mean_utilization(trial: FinishedTrial) -> dict[str, float]:
    return {key.removeprefix("utilization."): mean for key, mean in trial.usage.means().items() if key.startswith("utilization.")}


@measure("meanNodesUsed", title="Nodes with a pod, DaemonSets aside, mean over virtual time", unit="nodes", better="lower")
def mean_nodes_used(trial: FinishedTrial) -> dict[str, float]:
    means = trial.usage.means()
    return {"": means["nodesUsed"]} if means else {}
