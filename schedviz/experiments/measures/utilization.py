"""Utilization and fragmentation of the nodes' capacity.

Fragmentation is defined as in Weng et al., "Beware of Fragmentation", USENIX ATC 2023: the share of a resource's free capacity that a pod
drawn from the workload cannot use, because its node lacks another resource, or enough of this one. Shares of single GPUs are unknown here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from schedviz.experiments.amounts import amounts
from schedviz.experiments.measures.measure import measure

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial

_Amounts = npt.NDArray[np.int64]
_Shares = npt.NDArray[np.float64]
#: From (nodes × shapes) whether a shape fits, and the number of pods of each shape, to the unusable share of each node.
_ShareOfNodes = Callable[[npt.NDArray[np.bool_], _Shares], _Shares]
_QUANTILES = (10, 50, 90)


@measure("utilization", title="Requested share of the allocatable amount of all nodes, empty ones included", unit="share", better="higher")
def utilization(trial: FinishedTrial) -> dict[str, float]:
    values: dict[str, float] = {}
    for name in trial.resources:
        allocatable = float(_column(trial, name, "allocatable").sum(dtype=np.float64))
        if allocatable > 0:
            values[name] = float(_column(trial, name, "requested").sum(dtype=np.float64)) / allocatable
    return values


@measure(
    "nodeUtilization", title="Requested share of a node's allocatable amount, quantiles over nodes that have the resource", unit="share"
)
def node_utilization(trial: FinishedTrial) -> dict[str, float]:
    values: dict[str, float] = {}
    for name in trial.resources:
        allocatable, requested = _column(trial, name, "allocatable"), _column(trial, name, "requested")
        offers = allocatable > 0
        if not offers.any():
            continue
        shares = requested[offers] / allocatable[offers]
        values |= {f"{name} p{quantile}": float(np.percentile(shares, quantile)) for quantile in _QUANTILES}
    return values


@measure(
    "stranded",
    title="Share of the free capacity that no pod of the workload can use, because its node lacks another resource, or enough of this one",
    unit="share",
    better="lower",
)
def stranded(trial: FinishedTrial) -> dict[str, float]:
    return _unusable(trial, lambda fits, _counts: np.asarray(1.0 - fits.any(axis=1), np.float64))


@measure(
    "fragmentation",
    title="Share of the free capacity that a typical pod cannot use, because its node lacks another resource, or enough of this one: mean "
    "over the pods of the workload",
    unit="share",
    better="lower",
)
def fragmentation(trial: FinishedTrial) -> dict[str, float]:
    return _unusable(trial, lambda fits, counts: np.asarray(1.0 - fits @ (counts / counts.sum()), np.float64))


@measure(
    "strandedUnits",
    title="Free units of an extended resource, such as GPUs, that no pod of the workload that requests it can use",
    unit="count",
    better="lower",
)
def stranded_units(trial: FinishedTrial) -> dict[str, float]:
    found = {}
    for name in trial.resources:
        if "/" not in name:
            continue
        shapes = {tuple(shape.items()) for shape in trial.shapes if name in shape}
        fits = _fits(trial, [dict(shape) for shape in shapes])
        found[name] = float(_free(trial, name)[~fits.any(axis=1)].sum())
    return found


def _fits(trial: FinishedTrial, shapes: Sequence[Mapping[str, int]]) -> npt.NDArray[np.bool_]:
    """Whether a node (row) has room for a pod with these requests (column)."""
    slots = np.array([info.allocatable.allowed_pod_number - len(info.pods) for info in trial.nodes])
    fits = np.repeat((slots > 0)[:, None], len(shapes), axis=1)
    for name in trial.resources:
        wanted = np.array([shape.get(name, 0) for shape in shapes], dtype=np.int64)
        fits &= _free(trial, name)[:, None] >= wanted[None, :]
    return fits


def _free(trial: FinishedTrial, name: str) -> _Amounts:
    free: _Amounts = np.maximum(_column(trial, name, "allocatable") - _column(trial, name, "requested"), 0)
    return free


def _unusable(trial: FinishedTrial, share_of_nodes: _ShareOfNodes) -> dict[str, float]:
    names = trial.resources
    shapes = Counter(tuple(shape.get(name, 0) for name in names) for shape in trial.shapes)
    if not shapes or not trial.nodes or not names:
        return {}
    fits = _fits(trial, [dict(zip(names, shape, strict=True)) for shape in shapes])
    unusable = share_of_nodes(fits, np.array(list(shapes.values()), dtype=np.float64))
    return {name: _share(_free(trial, name), unusable) for name in names}


def _share(free: _Amounts, unusable: _Shares) -> float:
    total = float(free.sum(dtype=np.float64))
    return float((free * unusable).sum() / total) if total else 0.0


def _column(trial: FinishedTrial, name: str, member: str) -> _Amounts:
    return np.array([amounts(getattr(info, member)).get(name, 0) for info in trial.nodes], dtype=np.int64)
