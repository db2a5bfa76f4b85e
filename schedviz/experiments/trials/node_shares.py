"""How full each node is at the end of a trial, for drawing."""

from __future__ import annotations

from typing import Final

import numpy as np

from schedviz.experiments.amounts import amounts
from schedviz.experiments.finished_trial import FinishedTrial

#: More nodes are drawn as this number of parts.
MAX_PARTS: Final = 200
#: Resources that are drawn; cpu and memory come first.
_MAX_RESOURCES: Final = 4
_DIGITS: Final = 4


def node_shares(trial: FinishedTrial) -> dict[str, list[float]]:
    """For each resource the requested shares of the nodes that offer it, the largest first; of more than 200 nodes, means of 200 parts."""
    pairs = [(amounts(info.requested), amounts(info.allocatable)) for info in trial.nodes]
    first = [name for name in ("cpu", "memory") if name in trial.resources]
    names = [*first, *(name for name in trial.resources if name not in first)][:_MAX_RESOURCES]
    return {name: _parts([requested.get(name, 0) / offered[name] for requested, offered in pairs if offered.get(name)]) for name in names}


def _parts(shares: list[float]) -> list[float]:
    ordered = np.sort(np.array(shares))[::-1]
    parts = ordered if len(ordered) <= MAX_PARTS else [part.mean() for part in np.array_split(ordered, MAX_PARTS)]
    return [round(float(share), _DIGITS) for share in parts]
