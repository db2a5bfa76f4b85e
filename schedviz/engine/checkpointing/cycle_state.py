"""Cycles in a checkpoint: the state of a cycle between two stages, as data, and back."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from schedviz.engine.binding import BindingCycle
from schedviz.engine.cache import Snapshot
from schedviz.engine.cycle_results import BindingResults, CycleResults
from schedviz.engine.failure import Failure
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import Diagnosis
from schedviz.engine.framework.fit_error_v1_36 import DiagnosisV136
from schedviz.engine.framework.object_table import ObjectTable, PodRef, QueuedPodState
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime import FilterOutcome, ScoreOutcome, ScoresOfPlugin
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.types import Generations
from schedviz.engine.framework.verdicts import CODE_TYPE, Verdicts
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_v1_36 import rows_without_pods
from schedviz.engine.scheduler_state import SchedulerState


class RowsState(msgspec.Struct, frozen=True):
    """Rows of the snapshot; `index` None: all rows in order."""

    index: list[int] | None


class FilterState(msgspec.Struct, frozen=True):
    """A FilterOutcome."""

    rows: RowsState
    feasible: list[int]
    codes: list[int]
    statuses: list[Status]
    error: Status | None


class ScoresState(msgspec.Struct, frozen=True):
    """The scores of one plugin."""

    name: str
    weight: int
    raw: list[int]
    normalized: list[int]
    weighted: list[int]


class ScoreState(msgspec.Struct, frozen=True):
    """A ScoreOutcome without error."""

    plugins: list[ScoresState]
    totals: list[int]


class DiagnosisState(msgspec.Struct, frozen=True):
    """A Diagnosis."""

    node_to_status: dict[str, Status]
    unschedulable_plugins: list[str]
    pre_filter_msg: str
    post_filter_msg: str
    #: v1.36: the status of nodes that were not evaluated, and the plugins that returned Pending.
    absent_nodes_status: Status | None = None
    pending_plugins: list[str] = []


class SchedulingCycleState(msgspec.Struct, frozen=True):
    """A SchedulingCycle."""

    number: int
    profile: str
    pod: PodRef
    queued: QueuedPodState
    stage: str
    results: CycleResults
    diagnosis: DiagnosisState
    cycle_state: dict[str, Any]
    filtered: FilterState | None
    scored: ScoreState | None
    feasible: RowsState | None
    failure: Failure | None
    assumed: PodRef | None


class BindingCycleState(msgspec.Struct, frozen=True):
    """A BindingCycle."""

    number: int
    profile: str
    queued: QueuedPodState
    assumed: PodRef
    node: str
    stage: str
    held: bool
    by_hand: bool
    waited: bool
    released: bool
    results: BindingResults
    cycle_state: dict[str, Any]
    failure: Failure | None
    #: v1.36: why PreBind is to fail.
    canceled: str = ""


def scheduling_cycle_state(cycle: SchedulingCycle, table: ObjectTable) -> SchedulingCycleState:
    """The state of a scheduling cycle."""
    return SchedulingCycleState(
        number=cycle.number,
        profile=cycle.framework.profile_name,
        pod=table.pod_info_ref(cycle.pod),
        queued=table.queued_pod_state(cycle.queued),
        stage=cycle.stage,
        results=cycle.results,
        diagnosis=_diagnosis_state(cycle.diagnosis),
        cycle_state=cycle.cycle_state.to_state(),
        filtered=None if cycle.filtered is None else filter_state(cycle.filtered),
        scored=None if cycle.scored is None else _score_state(cycle.scored),
        feasible=_feasible_state(cycle),
        failure=cycle.failure,
        assumed=None if cycle.assumed is None else table.pod_info_ref(cycle.assumed),
    )


def scheduling_cycle_of(
    cls: type[SchedulingCycle], saved: SchedulingCycleState, state: SchedulerState, table: ObjectTable
) -> SchedulingCycle:
    """The scheduling cycle of a state; `cls`: the release's."""
    cycle = cls(state, table.queued_pod(saved.queued), state.profiles[saved.profile], saved.number)
    cycle.pod = table.pod_info(saved.pod)
    cycle.stage = saved.stage
    cycle.results = saved.results
    _load_diagnosis(cycle.diagnosis, saved.diagnosis)
    cycle.cycle_state = CycleState.from_state(saved.cycle_state)
    cycle.filtered = None if saved.filtered is None else filter_outcome(saved.filtered, state.snapshot)
    cycle.scored = None if saved.scored is None else _score_outcome(saved.scored)
    cycle.feasible = None if saved.feasible is None else _rows(saved.feasible, state.snapshot)
    if cycle.feasible is not None and saved.results.feasible_rows_lack_pods:
        # Their generations are read by nothing.
        cycle.feasible = rows_without_pods(cycle.feasible, Generations())
    cycle.failure = saved.failure
    cycle.assumed = None if saved.assumed is None else table.pod_info(saved.assumed)
    return cycle


def binding_cycle_state(binding: BindingCycle, table: ObjectTable) -> BindingCycleState:
    """The state of a binding cycle."""
    return BindingCycleState(
        number=binding.number,
        profile=binding.framework.profile_name,
        queued=table.queued_pod_state(binding.queued),
        assumed=table.pod_info_ref(binding.assumed),
        node=binding.node,
        stage=binding.stage,
        held=binding.held,
        by_hand=binding.by_hand,
        waited=binding.waited,
        released=binding.watch_event_sent,
        results=binding.results,
        cycle_state=binding.cycle_state.to_state(),
        failure=binding.failure,
        canceled=binding.canceled,
    )


def binding_cycle_of(cls: type[BindingCycle], saved: BindingCycleState, state: SchedulerState, table: ObjectTable) -> BindingCycle:
    """The binding cycle of a state; `cls`: the release's."""
    binding = cls(
        state,
        number=saved.number,
        queued=table.queued_pod(saved.queued),
        framework=state.profiles[saved.profile],
        cycle_state=CycleState.from_state(saved.cycle_state),
        node=saved.node,
        held=saved.held,
    )
    binding.assumed = table.pod_info(saved.assumed)
    binding.stage = saved.stage
    binding.by_hand = saved.by_hand
    binding.waited = saved.waited
    binding.watch_event_sent = saved.released
    binding.results = saved.results
    binding.failure = saved.failure
    binding.canceled = saved.canceled
    return binding


def _diagnosis_state(diagnosis: Diagnosis) -> DiagnosisState:
    state = DiagnosisState(
        dict(diagnosis.node_to_status),
        sorted(diagnosis.unschedulable_plugins),
        diagnosis.pre_filter_msg,
        diagnosis.post_filter_msg,
    )
    if not isinstance(diagnosis, DiagnosisV136):
        return state
    absent, pending = diagnosis.nodes.absent_nodes_status, sorted(diagnosis.pending_plugins)
    return msgspec.structs.replace(state, absent_nodes_status=absent, pending_plugins=pending)


def _load_diagnosis(diagnosis: Diagnosis, saved: DiagnosisState) -> None:
    diagnosis.node_to_status.update(saved.node_to_status)
    diagnosis.unschedulable_plugins = set(saved.unschedulable_plugins)
    diagnosis.pre_filter_msg, diagnosis.post_filter_msg = saved.pre_filter_msg, saved.post_filter_msg
    if isinstance(diagnosis, DiagnosisV136) and saved.absent_nodes_status is not None:
        diagnosis.nodes.absent_nodes_status = saved.absent_nodes_status
        diagnosis.pending_plugins = set(saved.pending_plugins)


def _feasible_state(cycle: SchedulingCycle) -> RowsState | None:
    rows = cycle.feasible
    if rows is None or not cycle.results.feasible_rows_lack_pods:
        return None if rows is None else _rows_state(rows)
    # The rows are not the snapshot's, but have the names of its nodes.
    row_of = cycle.state.snapshot.row_of
    return RowsState([row_of[name] for name in rows.names])


def _rows_state(rows: Rows) -> RowsState:
    return RowsState(None if rows.index is None else rows.index.tolist())


def _rows(saved: RowsState, snapshot: Snapshot) -> Rows:
    return snapshot.rows(None if saved.index is None else np.array(saved.index, dtype=np.intp))


def filter_state(outcome: FilterOutcome) -> FilterState:
    """The state of Filter's outcome."""
    return FilterState(
        rows=_rows_state(outcome.rows),
        feasible=outcome.feasible.tolist(),
        codes=outcome.verdicts.codes.tolist(),
        statuses=list(outcome.verdicts.statuses),
        error=outcome.error,
    )


def filter_outcome(saved: FilterState, snapshot: Snapshot) -> FilterOutcome:
    """The outcome of a state."""
    statuses = [SUCCESS, *saved.statuses[1:]]
    verdicts = Verdicts(np.array(saved.codes, dtype=CODE_TYPE), statuses)
    return FilterOutcome(_rows(saved.rows, snapshot), np.array(saved.feasible, dtype=np.intp), verdicts, saved.error)


def _score_state(outcome: ScoreOutcome) -> ScoreState:
    return ScoreState(
        plugins=[
            ScoresState(plugin.name, plugin.weight, plugin.raw.tolist(), plugin.normalized.tolist(), plugin.weighted.tolist())
            for plugin in outcome.plugins
        ],
        totals=outcome.totals.tolist(),
    )


def _score_outcome(saved: ScoreState) -> ScoreOutcome:
    def scores(values: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array(values, dtype=np.int64)

    plugins = [
        ScoresOfPlugin(plugin.name, plugin.weight, scores(plugin.raw), scores(plugin.normalized), scores(plugin.weighted))
        for plugin in saved.plugins
    ]
    return ScoreOutcome(SUCCESS, plugins, scores(saved.totals))
