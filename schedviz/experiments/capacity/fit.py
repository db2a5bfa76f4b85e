"""How many more pods of a template fit, where, and what stops the next one: `explain.what_if` until a pod does not fit."""

from __future__ import annotations

import msgspec

from schedviz.engine import Simulation
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.explain.what_if import MAX_COPIES, what_if
from schedviz.kube.core import Pod


class Fit(msgspec.Struct, frozen=True, rename="camel"):
    """The result."""

    placed: int
    #: The number of copies was limited, and more may fit.
    is_limited: bool
    #: Node -> number of copies, in the order of the first placement.
    nodes: dict[str, int]
    #: The scheduler's message about the copy that does not fit.
    message: str


def fit(base: BaseCluster, pod: Pod, *, limit: int = MAX_COPIES) -> Fit:
    """Count how many copies fit. Pending pods of the cluster are ignored, and no copy is placed by preemption. Raises
    `ConfigurationError`.
    """
    simulation = Simulation(base.settings)
    simulation.load(base.objects)
    result = what_if(simulation, pod, min(limit, MAX_COPIES))
    return Fit(result.placed, not result.remaining, result.nodes, result.message)
