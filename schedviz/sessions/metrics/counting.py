"""Computes metrics from events: each event is counted where the code of the session's release counts the same occurrence.

Durations come from two clocks. Computation is measured by the host of the engine; waiting (backoff, Permit) is measured by the session's
clock. A scheduling attempt includes both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from schedviz.engine import stages
from schedviz.sessions.metrics import definitions
from schedviz.sessions.metrics.metric_values import Attempt, MetricValues
from schedviz.trace.events import (
    POP_CAUSES,
    AnyEvent,
    BindingStageEnded,
    BindingStarted,
    CycleEnded,
    CycleStarted,
    QueueMoved,
    QueueName,
    Restarted,
    StageEnded,
)
from schedviz.trace.recorder import StageTiming
from schedviz.trace.releases import V1_27
from schedviz.trace.view import StatusView

#: The scheduling and binding stages in which a framework's plugins run. A nominated node is evaluated in Filter.
_EXTENSION_POINTS = {
    stages.PRE_FILTER: "PreFilter",
    stages.NOMINATED_NODE: "Filter",
    stages.FILTER: "Filter",
    stages.POST_FILTER: "PostFilter",
    stages.PRE_SCORE: "PreScore",
    stages.SCORE: "Score",
    stages.RESERVE: "Reserve",
    stages.PERMIT: "Permit",
    stages.UNRESERVE: "Unreserve",
    stages.PRE_BIND_PRE_FLIGHT: "PreBindPreFlight",
    stages.PRE_BIND: "PreBind",
    stages.BIND: "Bind",
    stages.POST_BIND: "PostBind",
}
#: Stages before upstream's scheduleOne takes `start := time.Now()`, from which its durations are measured.
_UNTIMED_STAGES = frozenset((stages.POP, stages.SKIP_POD_SCHEDULE))
#: The stages of upstream's schedulingAlgorithm that can end it, and the stages that follow it.
_ALGORITHM_STAGES = frozenset(
    (
        stages.UPDATE_SNAPSHOT,
        stages.PRE_FILTER,
        stages.NOMINATED_NODE,
        stages.FILTER,
        stages.EXTENDER_FILTER,
        stages.POST_FILTER,
        stages.PRE_SCORE,
        stages.SCORE,
        stages.SELECT_HOST,
    )
)
_AFTER_ALGORITHM = frozenset((stages.ASSUME, stages.HANDLE_SCHEDULING_FAILURE, stages.WAIT_FOR_POD_GROUP))
#: Upstream counts both queues of v1.36's backoff as one.
_QUEUES: dict[QueueName, str] = {
    "activeQ": "active",
    "backoffQ": "backoff",
    "errorBackoffQ": "backoff",
    "unschedulable": "unschedulable",
}
#: Moves that `scheduler_queue_incoming_pods_total` does not count: upstream has no label for them, or (PodUpdate) omits the call.
_NOT_COUNTED = frozenset(("PodDelete", "PodUpdate", "Configure"))
_POP_FROM_BACKOFF_Q = "PopFromBackoffQ"
_PREEMPTION = "DefaultPreemption"
_SUCCESS, _ERROR, _WAIT, _SKIP = "Success", "Error", "Wait", "Skip"


def count(values: MetricValues, events: Iterable[AnyEvent], timings: Mapping[int, StageTiming]) -> None:
    """Count these events, which follow those already counted. `timings`: the durations of stages by event; stages without one were not
    measured, and their durations are omitted.
    """
    for event in events:
        counting = _COUNTING.get(type(event))
        if counting is not None:
            timing = timings.get(event.event)
            counting(values, event, None if timing is None else timing.seconds)
        values.event = event.event


def _cycle_started(values: MetricValues, event: CycleStarted, _seconds: float | None) -> None:
    values.open_attempts[event.cycle] = Attempt(profile=event.profile, attempts=event.attempts, popped_at=event.at)


def _cycle_ended(values: MetricValues, event: CycleEnded, _seconds: float | None) -> None:
    if event.outcome != "scheduled":
        values.open_attempts.pop(event.cycle, None)


def _stage_ended(values: MetricValues, event: StageEnded, seconds: float | None) -> None:
    attempt = values.open_attempts.get(event.cycle)
    if attempt is None:
        return
    stage = event.stage
    if stage == stages.POP:
        attempt.waited_seconds = event.facts["waitedSeconds"]
    elif stage == stages.POST_FILTER:
        _preempted(values, event)
    if seconds is not None and stage not in _UNTIMED_STAGES:
        attempt.computed_seconds += seconds
        _extension_point(values, attempt, event, seconds)
        if _ends_algorithm(values, event):
            values.observe(definitions.SCHEDULING_ALGORITHM_DURATION, attempt.computed_seconds + event.at - attempt.popped_at)
    if stage == stages.HANDLE_SCHEDULING_FAILURE:
        _failed(values, event)


def _ends_algorithm(values: MetricValues, event: StageEnded) -> bool:
    """Whether upstream observes the duration of the scheduling algorithm here: v1.27.1 only if it found a node, v1.36 always."""
    if values.release == V1_27:
        return event.stage == stages.SELECT_HOST
    return event.stage in _ALGORITHM_STAGES and event.next_stage in _AFTER_ALGORITHM


def _binding_started(values: MetricValues, event: BindingStarted, _seconds: float | None) -> None:
    attempt = values.open_attempts.get(event.cycle)
    if attempt is not None and event.waiting_for:
        attempt.permit_since = event.at


def _binding_stage_ended(values: MetricValues, event: BindingStageEnded, seconds: float | None) -> None:
    attempt = values.open_attempts.get(event.cycle)
    if attempt is None:
        return
    stage = event.stage
    if stage == stages.WAIT_ON_PERMIT and attempt.permit_since is not None:
        result = _SUCCESS if event.next_stage == stages.PRE_BIND else "Unschedulable"
        values.observe(definitions.PERMIT_WAIT_DURATION, event.at - attempt.permit_since, result)
    if seconds is not None:
        attempt.computed_seconds += seconds
        _extension_point(values, attempt, event, seconds)
    if event.next_stage == stages.POST_BIND:
        _ended(values, attempt, "scheduled", event.at)
        values.observe(definitions.POD_SCHEDULING_ATTEMPTS, attempt.attempts)
        values.observe(
            definitions.POD_SCHEDULING_DURATION, attempt.waited_seconds + event.at - attempt.popped_at, attempts_label(attempt.attempts)
        )
    elif stage == stages.POST_BIND:
        del values.open_attempts[event.cycle]
    elif stage == stages.HANDLE_SCHEDULING_FAILURE:
        _failed(values, event)


def _queue_moved(values: MetricValues, event: QueueMoved, _seconds: float | None) -> None:
    """Upstream: scheduling_queue.go, active_queue.go, backoff_queue.go and unschedulable_pods.go, every SchedulerQueueIncomingPods"""
    if event.cause in POP_CAUSES:
        # v1.36 counts a pod that it pops from backoffQ as one that enters activeQ. A pod popped from activeQ is not counted.
        for move in event.moves:
            if move.source == "backoffQ":
                values.count(definitions.QUEUE_INCOMING_PODS, "active", _POP_FROM_BACKOFF_Q)
        return
    if event.cause in _NOT_COUNTED:
        return
    # A pod that a PreEnqueue plugin gates enters unschedulablePods. v1.27.1 does not count it.
    counts_unschedulable = values.release != V1_27 or event.cause == "ScheduleAttemptFailure"
    for move in event.moves:
        if move.target is not None and move.source != move.target and (counts_unschedulable or move.target != "unschedulable"):
            values.count(definitions.QUEUE_INCOMING_PODS, _QUEUES[move.target], event.cause)


def _restarted(values: MetricValues, _event: Restarted, _seconds: float | None) -> None:
    values.restart()


def _extension_point(values: MetricValues, attempt: Attempt, event: StageEnded | BindingStageEnded, seconds: float) -> None:
    point = _EXTENSION_POINTS.get(event.stage)
    if point is None or (event.stage == stages.BIND and not event.statuses):
        # An extender bound the pod: no plugin ran.
        return
    if point == "Filter":
        status = _ERROR if event.facts.get("error") else _SUCCESS
    elif point == "PreBindPreFlight":
        status = _pre_flight_status_of(event.statuses)
    else:
        status = status_of(event.statuses)
    values.observe(definitions.FRAMEWORK_EXTENSION_POINT_DURATION, seconds, point, status, attempt.profile)


def status_of(statuses: list[StatusView]) -> str:
    """The combined status of plugins that run one after the other: they stop at the first that does not succeed."""
    if not statuses or statuses[-1].code == _SKIP:
        return _SUCCESS
    last = statuses[-1].code
    if last == _SUCCESS and any(status.code == _WAIT for status in statuses):
        return _WAIT
    return last


def _pre_flight_status_of(statuses: list[StatusView]) -> str:
    """Upstream: framework.go RunPreBindPreFlights: Skip unless a plugin has something to do."""
    codes = {status.code for status in statuses}
    if codes <= {_SUCCESS, _SKIP}:
        return _SUCCESS if _SUCCESS in codes else _SKIP
    return _ERROR


def _preempted(values: MetricValues, event: StageEnded) -> None:
    """Upstream: default_preemption.go PostFilter, preemption.go prepareCandidate"""
    for status in event.statuses:
        if status.plugin == _PREEMPTION:
            values.count(definitions.PREEMPTION_ATTEMPTS)
            if status.code == _SUCCESS:
                values.observe(definitions.PREEMPTION_VICTIMS, len(event.facts.get("victims", ())))


def _failed(values: MetricValues, event: StageEnded | BindingStageEnded) -> None:
    """Upstream: schedule_one.go handleSchedulingFailure"""
    attempt = values.open_attempts.pop(event.cycle)
    _ended(values, attempt, "unschedulable" if event.facts.get("reason") == "Unschedulable" else "error", event.at)


def _ended(values: MetricValues, attempt: Attempt, result: str, ended_at: float) -> None:
    """Upstream: profile_metrics.go observeScheduleAttemptAndLatency"""
    values.observe(
        definitions.SCHEDULING_ATTEMPT_DURATION, attempt.computed_seconds + ended_at - attempt.popped_at, result, attempt.profile
    )
    values.count(definitions.SCHEDULE_ATTEMPTS, result, attempt.profile)


def attempts_label(attempts: int) -> str:
    """Upstream: schedule_one.go getAttemptsLabel"""
    return "15+" if attempts >= 15 else str(attempts)


_COUNTING: dict[type, Callable[[MetricValues, Any, float | None], None]] = {
    CycleStarted: _cycle_started,
    CycleEnded: _cycle_ended,
    StageEnded: _stage_ended,
    BindingStarted: _binding_started,
    BindingStageEnded: _binding_stage_ended,
    QueueMoved: _queue_moved,
    Restarted: _restarted,
}
