"""NodeResourcesFit: a node has room for the pod's requests, and scores by its free (or used) resources.

Upstream: framework/plugins/noderesources/fit.go
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.config.plugin_args import NodeResourcesFitArgs
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.formulas import POD_COUNT, Amount, Amounts, Formula
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.noderesources.resource_allocation import PodRequestsState, ResourceScorer, pod_requests
from schedviz.engine.framework.plugins.noderesources.strategies import strategy_of
from schedviz.engine.framework.resource import Resource, is_extended_resource_name
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import CODE_TYPE, Verdicts

_BITS_OF_INT16: Final = 15
_BITS_OF_INT64: Final = 63


class PreFilterState(msgspec.Struct, frozen=True):
    """The pod's requests; scalar resources in the order of their names."""

    milli_cpu: int
    memory: int
    ephemeral_storage: int
    scalar: tuple[tuple[str, int], ...]

    def clone(self) -> PreFilterState:
        return self

    @property
    def is_empty(self) -> bool:
        """Whether only the number of pods matters. A scalar resource counts even if its request is 0."""
        return not (self.milli_cpu or self.memory or self.ephemeral_storage or self.scalar)


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.NODE_RESOURCES_FIT}", PreFilterState)
PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.NODE_RESOURCES_FIT}", PodRequestsState)


def compute_pod_resource_request(pod: PodInfo) -> PreFilterState:
    """What a pod that is to be scheduled requests. Upstream: computePodResourceRequest"""
    return request_of(pod.spec_requests.resource)


def request_of(requested: Resource) -> PreFilterState:
    """The amounts; a sum that overflowed to a negative number requests nothing. Upstream: SetMaxResource"""
    return PreFilterState(
        max(0, requested.milli_cpu),
        max(0, requested.memory),
        max(0, requested.ephemeral_storage),
        tuple((name, max(0, amount)) for name, amount in sorted(requested.scalar.items())),
    )


def fits(pod: PodInfo, node_info: NodeInfo) -> list[str]:
    """Why a pod does not fit on one node; empty: it fits. Upstream: framework/plugins/noderesources/fit.go Fits"""
    request = compute_pod_resource_request(pod)
    have, used = node_info.allocatable, node_info.requested
    missing = ["Too many pods"] if len(node_info.pods) + 1 > have.allowed_pod_number else []
    if request.is_empty:
        return missing
    if request.milli_cpu > have.milli_cpu - used.milli_cpu:
        missing.append("Insufficient cpu")
    if request.memory > have.memory - used.memory:
        missing.append("Insufficient memory")
    if request.ephemeral_storage > have.ephemeral_storage - used.ephemeral_storage:
        missing.append("Insufficient ephemeral-storage")
    missing += [
        f"Insufficient {name}" for name, amount in request.scalar if amount and amount > have.scalar.get(name, 0) - used.scalar.get(name, 0)
    ]
    return missing


def mask_dtype(bits: int) -> np.dtype[Any]:
    """The smallest type of an array of masks with so many bits: a pod can request any number of resources."""
    if bits < _BITS_OF_INT16:
        return np.dtype(np.int16)
    return np.dtype(np.int64 if bits < _BITS_OF_INT64 else np.object_)


@lru_cache(maxsize=1024)
def _shortages(checked: tuple[tuple[str, int], ...]) -> Formula:
    """What each row has too little of, as bits: the number of pods, then each requested resource."""
    dtype = mask_dtype(len(checked) + 1)

    def compute(pods: Amounts, max_pods: Amounts, *columns: Amounts) -> IntArray:
        short: IntArray = (pods + 1 > max_pods).astype(dtype)
        for bit, (_, amount) in enumerate(checked):
            allocatable, requested = columns[2 * bit], columns[2 * bit + 1]
            short |= np.multiply(amount > allocatable - requested, 2 << bit, dtype=dtype)
        return short

    amounts = [POD_COUNT, Amount("allocatable", "pods")]
    for resource, _ in checked:
        amounts += (Amount("allocatable", resource), Amount("requested", resource))
    return Formula((names.NODE_RESOURCES_FIT, checked), amounts, compute)


class Fit:
    name = names.NODE_RESOURCES_FIT

    def __init__(self, args: NodeResourcesFitArgs, _handle: Handle) -> None:
        self._ignored_resources = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._resources = args.scoring_strategy.resources
        self._scorer = ResourceScorer(strategy_of(args.scoring_strategy), self._resources, use_requested=False)
        #: Reasons -> their status, so that equal statuses are one object.
        self._statuses: dict[tuple[str, ...], Status] = {}

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.DELETE),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        state.write(PRE_FILTER_STATE_KEY, compute_pod_resource_request(pod))
        return None, SUCCESS

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.SUMS

    def sums_key(self, state: CycleState, pod: PodInfo) -> Hashable | None:  # noqa: ARG002 - the extension point's shape
        """The requests that Filter compares."""
        return None if PRE_FILTER_STATE_KEY not in state else tuple(self._checked(state.read(PRE_FILTER_STATE_KEY)))

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        """Each row's shortages as bits, and one status for each combination of them. Upstream: fitsRequest"""
        try:
            request = state.read(PRE_FILTER_STATE_KEY)
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(f'error reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}'))
        checked = self._checked(request)
        shortages = rows.formula(_shortages(tuple(checked)))
        if not shortages.any():
            return None
        reasons = ["Too many pods", *(f"Insufficient {resource}" for resource, _ in checked)]
        statuses = [SUCCESS]
        if shortages.dtype != np.int16:
            masks, shortages = np.unique(shortages, return_inverse=True)
        else:
            # Sorting all rows takes longer than a table of all masks.
            masks = np.arange(int(shortages.max()) + 1)
        table = np.zeros(len(masks), CODE_TYPE)
        for code in np.unique(shortages).tolist():
            mask = int(masks[code])
            if mask:
                table[code] = len(statuses)
                statuses.append(self._status(tuple(reason for bit, reason in enumerate(reasons) if mask >> bit & 1)))
        return Verdicts(table[shortages], statuses)

    def _checked(self, request: PreFilterState) -> list[tuple[str, int]]:
        if request.is_empty:
            return []
        own = [("cpu", request.milli_cpu), ("memory", request.memory), ("ephemeral-storage", request.ephemeral_storage)]
        return [*own, *((name, amount) for name, amount in request.scalar if amount and not self._is_ignored(name))]

    def _is_ignored(self, resource: str) -> bool:
        if not is_extended_resource_name(resource):
            return False
        return resource in self._ignored_resources or resource.partition("/")[0] in self._ignored_groups

    def _status(self, reasons: tuple[str, ...]) -> Status:
        if reasons not in self._statuses:
            self._statuses[reasons] = unschedulable(*reasons)
        return self._statuses[reasons]

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:  # noqa: ARG002 - the extension point's shape
        state.write(PRE_SCORE_STATE_KEY, pod_requests(pod, self._resources, use_requested=False))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        try:
            requests = state.read(PRE_SCORE_STATE_KEY).requests
        except NotFoundError:  # PreScore is disabled.
            requests = pod_requests(pod, self._resources, use_requested=False).requests
        return self._scorer.score(rows, requests)
