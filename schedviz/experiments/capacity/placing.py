"""Simulates a cluster without some of its nodes, and returns the pods that are pending afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.experiments.plans.plan import Base, NodesPatch, Patch, Plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.variants import Variant
from schedviz.experiments.trials.run_trial import TrialRun
from schedviz.kube.gc_tuning import without_gc

_PLAN = Plan(experiment=1, base=Base())


class Placed(msgspec.Struct, frozen=True):
    """The state after the run."""

    #: Pending pod -> the reason.
    pending: dict[str, str]
    #: Pods that were evicted by preemption.
    evicted: frozenset[str]

    def worse_than(self, before: Placed) -> dict[str, str]:
        """The pods that are pending here and not in the other state, with the reasons, sorted."""
        lost: Mapping[str, str] = {**self.pending, **dict.fromkeys(self.evicted - before.evicted, "evicted for another pod")}
        return {pod: lost[pod] for pod in sorted(lost.keys() - before.pending.keys())}


def place_without(base: BaseCluster, removed: Collection[str]) -> Placed:
    """Schedule the pending pods and those of the removed nodes on the others."""
    variant = Variant("without", Patch(nodes=NodesPatch(remove=sorted(removed))), "")
    with without_gc():
        run = TrialRun(Trial(0, variant), base, _PLAN)
        run.run()
        end = run.finished()
        return Placed(end.pending, frozenset(end.gone))
