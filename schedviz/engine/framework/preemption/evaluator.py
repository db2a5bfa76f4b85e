"""`Evaluator`: one preemption attempt for a pod.

Upstream: framework/preemption/preemption.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, Protocol

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import Diagnosis, FitError, NodeToStatusMap
from schedviz.engine.framework.interface import (
    Handle,
    NominatingInfo,
    NominatingMode,
    PostFilterResult,
)
from schedviz.engine.framework.preemption.importance import NodeVictims, pick
from schedviz.engine.framework.preemption.record import Candidate, PreemptionRecord, Reprieve
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.verdicts import Index, Verdicts
from schedviz.kube.core import Pod, PodCondition

NOT_HELPFUL: Final = unresolvable("Preemption is not helpful for scheduling")
NO_NODES: Final = StatusError("no nodes available")


class VictimSearch:
    """A search for victims on some rows, which continues only as far as `found` is read."""

    def __init__(self, rows: int, find: Callable[[VictimSearch], Iterator[tuple[int, NodeVictims | Status]]]) -> None:
        self._codes = np.zeros(rows, np.int32)
        self._statuses: list[Status] = [SUCCESS]
        #: Rows in order with their victims, or why there are none.
        self.found = find(self)

    def reject(self, rows: Index, verdicts: Verdicts) -> None:
        """Preemption does not help on the rejected ones of these rows."""
        self._codes[rows] = np.where(verdicts.codes, verdicts.codes.astype(np.int32) + len(self._statuses) - 1, 0)
        self._statuses.extend(verdicts.statuses[1:])

    @property
    def verdicts(self) -> Verdicts:
        """Why preemption does not help, as far as is known; Success for other rows."""
        return Verdicts(self._codes, self._statuses)


class VictimSearchResult(NamedTuple):
    """Candidates, why other nodes are none (complete only without candidates), and errors."""

    candidates: list[NodeVictims]
    verdicts: Verdicts
    errors: list[StatusError]


class VictimSelector(Protocol):
    """The decisions of a preemption plugin. Upstream: framework/preemption/preemption.go Interface"""

    def pod_eligible_to_preempt_others(self, pod: PodInfo, nominated_node_status: Status | None) -> str:
        """Why the pod may not preempt; "": it may."""
        ...

    def num_candidates(self, num_nodes: int) -> int:
        """How many candidates are enough."""
        ...

    def select_victims(self, state: CycleState, pod: PodInfo, rows: Rows, enough: int) -> VictimSearch:
        """The fewest victims on each node, or why preemption would not help; `enough` candidates end the search."""
        ...


class Evaluator:
    """One preemption of one plugin for one pod."""

    def __init__(self, plugin: str, handle: Handle, state: CycleState, selector: VictimSelector) -> None:
        self._plugin = plugin
        self._handle = handle
        self._state = state
        self._selector = selector

    def preempt(self, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        """Evict victims and return the nomination, or why there is none. Upstream: Preempt"""
        latest: Pod | None = self._handle.objects.get("Pod", pod.namespace, pod.name)
        if latest is None:
            return None, as_status(StatusError(f'pod "{pod.name}" not found', "pods", pod.name))
        preemptor = pod.info_of(latest)
        nominated = latest.status.nominated_node_name
        why_not = self._selector.pod_eligible_to_preempt_others(preemptor, node_to_status.status_of(nominated) if nominated else None)
        if why_not:
            return None, unschedulable(why_not)

        candidates, fit_error, errors = self._find_candidates(preemptor, node_to_status)
        if errors and not candidates:
            return None, as_status(aggregate(errors))
        if not candidates:
            return nominating(""), unschedulable(fit_error.message)

        shown_candidates = tuple(shown(candidate, pod_by_pod=self._handle.keeps_details) for candidate in candidates)
        candidates, status = self._call_extenders(preemptor, candidates)
        shown_after_extenders = tuple(map(shown, candidates)) if self._handle.extenders else None
        record = PreemptionRecord(shown_candidates, shown_after_extenders)
        if not status.is_success:
            return PostFilterResult(record=record), status
        if not candidates:
            return PostFilterResult(record=record), unschedulable("no candidate node for preemption")

        picked = pick(candidates, self._handle.clock())
        best = picked.candidate
        record = PreemptionRecord(
            shown_candidates, shown_after_extenders, chosen=best.node, victims=tuple(pod.key for pod in best.pods), rule=picked.rule
        )
        status = self._prepare(best, preemptor)
        if not status.is_success:
            return PostFilterResult(record=record), status
        return nominating(best.node, record), SUCCESS

    def _find_candidates(self, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[list[NodeVictims], FitError, list[StatusError]]:
        """Nodes on which preemption helps, why it helps on none, and the errors of dry runs. Upstream: findCandidates"""
        rows = self._handle.snapshot.rows()
        if not len(rows):
            return [], _fit_error(pod, NodeToStatusMap()), [NO_NODES]
        is_potential = node_to_status.mask(rows, may_help, absent=True)
        potential = np.flatnonzero(is_potential)
        if not len(potential):
            self._handle.client.clear_nominated_node_name(pod.pod)
            return [], _fit_error(pod, NodeToStatusMap.of(rows, Verdicts.all(len(rows), NOT_HELPFUL))), []
        result = self._dry_run(pod, rows.take(potential))
        codes = np.ones(len(rows), np.int32)
        codes[potential] = np.where(result.verdicts.codes, result.verdicts.codes.astype(np.int32) + 1, 0)
        verdicts = Verdicts(codes, (SUCCESS, NOT_HELPFUL, *result.verdicts.statuses[1:]))
        return result.candidates, _fit_error(pod, NodeToStatusMap.of(rows, verdicts)), result.errors

    def _dry_run(self, pod: PodInfo, rows: Rows) -> VictimSearchResult:
        """Candidates, those without budget violations first; enough of them end the search. Upstream: DryRunPreemption

        Deviation: the search starts at the first node; upstream starts at a random one.
        """
        num_candidates = self._selector.num_candidates(len(rows))
        search = self._selector.select_victims(self._state, pod, rows, num_candidates)
        non_violating: list[NodeVictims] = []
        violating: list[NodeVictims] = []
        unhelpful: dict[int, Status] = {}
        end = len(rows)
        for row, outcome in search.found:
            if isinstance(outcome, Status):
                unhelpful[row] = outcome
                continue
            if not outcome.num_pdb_violations:
                non_violating.append(outcome)
            elif len(violating) < num_candidates:
                violating.append(outcome)
            if non_violating and len(non_violating) + len(violating) >= num_candidates:
                end = row
                break
        verdicts = search.verdicts.replaced(unhelpful)
        return VictimSearchResult([*non_violating, *violating], verdicts, _errors(verdicts, end))

    def _call_extenders(self, pod: PodInfo, candidates: list[NodeVictims]) -> tuple[list[NodeVictims], Status]:
        """The candidates that extenders keep, in order. Upstream: callExtenders"""
        for extender in self._handle.extenders:
            if not extender.supports_preemption or not extender.is_interested(pod):
                continue
            remaining, error = extender.process_preemption(pod, candidates, self._handle.snapshot)
            if error and not extender.is_ignorable:
                return [], as_status(error)
            if error:
                continue
            without_victims = [candidate.node for candidate in remaining if not candidate.pods]
            if without_victims and not extender.is_ignorable:
                return [], as_status(f'expected at least one victim pod on node "{without_victims[0]}"')
            candidates = [candidate for candidate in remaining if candidate.pods]
            if not candidates:
                break
        return candidates, SUCCESS

    def _prepare(self, chosen: NodeVictims, pod: PodInfo) -> Status:
        """Evict the victims, and clear nominations of pods that may no longer fit. Upstream: prepareCandidate"""
        client = self._handle.client
        for victim in chosen.pods:
            if not self._handle.reject_waiting_pod(victim.uid, self._plugin, "preempted"):
                error = client.apply_condition(victim.pod, _disruption(pod.pod)) or client.delete_pod(victim.pod)
                if error is not None:
                    return as_status(error)
            client.record_event(
                victim.pod,
                profile=self._handle.profile_name,
                type_="Normal",
                reason="Preempted",
                action="Preempting",
                note=f"Preempted by a pod on node {chosen.node}",
                related=pod.key,
            )
        for other in self._handle.nominator.nominated_pods_for_node(chosen.node):
            if other.priority < pod.priority:
                client.clear_nominated_node_name(other.pod)
        return SUCCESS


def _fit_error(pod: PodInfo, statuses: NodeToStatusMap) -> FitError:
    return FitError(pod.key, len(statuses), Diagnosis(statuses))


def may_help(status: Status) -> bool:
    """Whether evicting pods can make the node fit."""
    return status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def _errors(verdicts: Verdicts, end: int) -> list[StatusError]:
    """The errors of the first `end` rows, in order."""
    failed = {code: status.as_error() for code, status in enumerate(verdicts.statuses) if status.code is Code.ERROR}
    if not failed:
        return []
    statuses = (failed.get(code) for code in verdicts.codes[:end].tolist())
    return [error for error in statuses if error is not None]


def _disruption(preemptor: Pod) -> PodCondition:
    message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
    return PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)


def nominating(node: str, record: PreemptionRecord | None = None) -> PostFilterResult:
    """Upstream: NewPostFilterResultWithNominatedNode; "" clears an earlier nomination."""
    return PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, node), record or PreemptionRecord())


def shown(candidate: NodeVictims, *, pod_by_pod: bool = False) -> Candidate:
    """A candidate for the record; `pod_by_pod`: with the pods that could have stayed."""
    if not pod_by_pod:
        return candidate.recorded
    reprieves = tuple(Reprieve(pod.key, can_stay, index < candidate.protected) for index, (pod, can_stay) in enumerate(candidate.tried))
    return msgspec.structs.replace(candidate.recorded, reprieves=reprieves)


def aggregate(errors: Iterable[StatusError]) -> StatusError:
    """Several errors as one, without duplicate messages. Upstream: apimachinery util/errors Aggregate"""
    known_errors = list(errors)
    messages = list(dict.fromkeys(error.message for error in known_errors))
    return known_errors[0] if len(messages) == 1 else StatusError(f"[{', '.join(messages)}]")
