"""Overview of all pending pods: grouped by equal scheduling requirements, and the groups by the reason why they are pending."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.cache.debugger.dumper import NAME_ONLY_GATE
from schedviz.explain.details.detail import MAX_NAMES
from schedviz.explain.details.short_names import ShortNames
from schedviz.explain.doctor.known_findings import KnownFindings
from schedviz.explain.equivalence import groups
from schedviz.explain.explanation import Clause, Explanation, Part
from schedviz.explain.messages.pinned_node import pinned_node
from schedviz.explain.messages.real_message import PODS, what_to_add
from schedviz.explain.pending.changes_of_groups import find_changes, may_have_change, with_effects
from schedviz.explain.pending.pending_group import PendingGroup, group_of, said_message
from schedviz.explain.pending.reason_names import NOT_EVALUATED, OF_CLAUSE, OTHER_SCHEDULER, UNKNOWN, advice_of, is_quoted, reason_of
from schedviz.explain.pending.waiting_reason import KnownNodes, WaitingReason, is_of_capacity, joined_reasons, shared_advice, waiting_reason
from schedviz.explain.queue_place import queue_place
from schedviz.explain.why import NO_FINDINGS, explain_pod
from schedviz.kube.core import Pod
from schedviz.trace.phrase import Phrase, counted, phrase

#: Groups that are explained; the pods of others are only counted.
MAX_GROUPS: Final = 200
#: Time for changes that would place pods: after it, no search begins.
SECONDS_FOR_CHANGES: Final = 1.0
_UNTRIED: Final = phrase(
    "The files contain no nodes, so scheduling was not simulated. To simulate it and find verified fixes, import the output of:"
)


class Overview(Part, frozen=True):
    """Every pending pod of a moment."""

    #: "7 pods are pending, for 2 reasons".
    sentence: str
    sentence_phrase: Phrase
    #: The number of pending pods.
    count: int
    #: Those for which no node would take the pods now first, and of these the ones that were evaluated; then by the number of pods; of
    #: equally many, those that lack resources last.
    reasons: tuple[WaitingReason, ...]
    #: Why no pod was tried, if the files have no nodes; "" otherwise. `command` prints what is missing.
    note: str = ""
    note_phrase: Phrase | None = None
    command: str = ""
    #: Reasons that the messages of all pending pods have in common, for as many nodes each; only where no pod was tried.
    common: tuple[Clause, ...] = ()
    #: Pods of groups beyond `MAX_GROUPS`, which are not explained.
    unexplained: int = 0
    #: The simulated release of kube-scheduler.
    release: str = ""

    def other_reasons(self, reason: WaitingReason) -> tuple[Clause, ...]:
        """The further reasons in the message of a pod that could not be tried on nodes, the most likely cause first.

        All of them, if the headline is a sentence about them.
        """
        if len(reason.groups) != 1 or reason.reason_phrase.template == NOT_EVALUATED:
            return ()
        [group] = reason.groups
        if any(clause.nodes for clause in group.clauses):
            return ()
        others = group.clauses if group.is_about_all else group.clauses[1:]
        return tuple(clause for clause in others if clause.advice and _counted_reason(clause) not in self._common)

    @property
    def _common(self) -> set[tuple[str, int]]:
        return {_counted_reason(clause) for clause in self.common}

    def brief(self) -> Overview:
        """The same with the first `MAX_NAMES` nodes of each clause: with all of them it would grow with pods times nodes."""
        return msgspec.structs.replace(self, reasons=tuple(_brief(reason) for reason in self.reasons))

    @property
    def groups(self) -> list[PendingGroup]:
        """Groups that no node would take now, then those that only wait for their attempt; largest first."""
        all_groups = (group for reason in self.reasons for group in reason.groups)
        return sorted(all_groups, key=lambda group: (group.outlook == "now", -len(group.pods)))


def _counted_reason(clause: Clause) -> tuple[str, int]:
    return clause.reason, clause.count


class Unread(NamedTuple):
    """What is missing from an import: an overview that finds no pending pod is no all-clear then."""

    #: Which file or part could not be read, and why.
    why: str
    #: The number of objects that were read.
    objects: int


def _brief(reason: WaitingReason) -> WaitingReason:
    groups_ = (msgspec.structs.replace(group, clauses=tuple(map(_with_few_nodes, group.clauses))) for group in reason.groups)
    return msgspec.structs.replace(reason, groups=tuple(groups_))


def _with_few_nodes(clause: Clause) -> Clause:
    return msgspec.structs.replace(clause, nodes=clause.nodes[:MAX_NAMES])


def overview(
    simulation: Simulation, findings: KnownFindings = NO_FINDINGS, *, with_changes: bool = False, unread: Unread | None = None
) -> Overview:
    """Explain every pending pod. `simulation` belongs to the caller; its snapshot is updated.

    `with_changes`: look for the change that would place the first pod of each group, one group of each reason first, for up to
    `SECONDS_FOR_CHANGES`. It modifies `simulation`.
    `findings` are the doctor's about the files: pods that the scheduler does not know are groups and a reason of their own.
    `unread`: the first part of the files that could not be read; None if there is none.
    """
    every = sorted(_groups(simulation, findings), key=len, reverse=True)
    explained = [(_explain(simulation, pods, findings), pods) for pods in every[:MAX_GROUPS]]
    reasons = tuple(_waiting_reasons(simulation, explained, findings, with_changes=with_changes))
    count = sum(map(len, every))
    elsewhere = sum(reason.count for reason in reasons if reason.reason_phrase.template == OTHER_SCHEDULER)
    summary = _summary(count - elsewhere, elsewhere, sum(reason.reason_phrase.template != OTHER_SCHEDULER for reason in reasons), unread)
    untried = count > 0 and not any(explanation.nodes for explanation, _ in explained)
    return Overview(
        summary.text,
        summary,
        count,
        reasons,
        note=_UNTRIED.text if untried else "",
        note_phrase=_UNTRIED if untried else None,
        command=what_to_add(PODS) if untried else "",
        common=_common_clauses([explanation for explanation, _ in explained]) if untried else (),
        unexplained=sum(map(len, every[MAX_GROUPS:])),
        release="" if untried else simulation.settings.release,
    )


def _common_clauses(explanations: Sequence[Explanation]) -> tuple[Clause, ...]:
    """The reasons, except each first one, that all messages have for as many nodes."""
    if len(explanations) < 2:
        return ()
    first, *others = explanations
    counts = [set(map(_counted_reason, explanation.clauses[1:])) for explanation in others]
    return tuple(clause for clause in first.clauses[1:] if clause.advice and all(_counted_reason(clause) in each for each in counts))


def _pending(simulation: Simulation) -> Iterator[Pod]:
    pods = (obj for obj in simulation.stored_objects() if isinstance(obj, Pod) and not obj.spec.node_name)
    yield from (pod for pod in pods if pod.metadata.deletion_timestamp is None and not pod.is_finished)


def _groups(simulation: Simulation, findings: KnownFindings) -> Iterator[list[Pod]]:
    """Pods with equal requirements that the scheduler knows, or does not know, alike."""
    for equal in _split_by_message(groups(_pending(simulation))):
        unknown = [pod for pod in equal if findings.is_unknown(pod.key)]
        known_pods = [pod for pod in equal if not findings.is_unknown(pod.key)] if unknown else equal
        yield from filter(None, (known_pods, unknown))


def _split_by_message(equal: Iterable[list[Pod]]) -> Iterator[list[Pod]]:
    """Pods of which a dump has only the names look equal; the messages of their scheduler distinguish them."""
    for pods in equal:
        if not any(gate.name == NAME_ONLY_GATE for gate in pods[0].spec.scheduling_gates):
            yield pods
            continue
        by_message: dict[str, list[Pod]] = {}
        for pod in pods:
            message = next((condition.message for condition in pod.status.conditions if condition.type == "PodScheduled"), "")
            by_message.setdefault(message, []).append(pod)
        yield from by_message.values()


def _explain(simulation: Simulation, pods: Sequence[Pod], findings: KnownFindings) -> Explanation:
    first, *alike = pods
    place_in_queue = queue_place(simulation, first.key, count_ahead=False)
    return explain_pod(simulation, first, place_in_queue, tuple(pod.key for pod in alike), findings)


def _waiting_reasons(
    simulation: Simulation, explained: Sequence[tuple[Explanation, Sequence[Pod]]], findings: KnownFindings, *, with_changes: bool
) -> list[WaitingReason]:
    by_reason: dict[str, list[PendingGroup]] = {}
    searched: dict[str, list[Explanation]] = {}
    phrases: dict[str, Phrase] = {}
    advice: dict[str, Phrase | None] = {}
    for explanation, pods in explained:
        reason = UNKNOWN if findings.is_unknown(explanation.pod) else reason_of(simulation, explanation)
        phrases.setdefault(reason.text, reason)
        said = said_message(explanation, pods[0]) if is_quoted(reason) else None
        # If the sentence is about all reasons, each reason has its own advice, unless the pod can run on one node only.
        pinned = said.first_phrase if said is not None and pinned_node(pods[0]) else None
        advice[explanation.pod] = pinned if said is not None else advice_of(explanation)
        by_reason.setdefault(reason.text, []).append(group_of(explanation, pods, is_of_clause=is_quoted(reason)))
        if reason.template == OF_CLAUSE and may_have_change(explanation):
            searched.setdefault(reason.text, []).append(explanation)
    until = time.perf_counter() + SECONDS_FOR_CHANGES
    changes = find_changes(simulation, searched, until) if with_changes else {}
    views = {pod: tuple(change.view for change in found) for pod, found in changes.items()}
    by_reason = {
        text: [msgspec.structs.replace(group, changes=views.get(group.pods[0], ())) for group in members]
        for text, members in by_reason.items()
    }
    known = [info.node for info in simulation.scheduler.state.cache.nodes if info.node is not None]
    nodes = KnownNodes(ShortNames([node.name for node in known]), sum(node.spec.unschedulable for node in known))
    reasons = [*joined_reasons(by_reason, phrases, nodes)]
    reasons += [
        waiting_reason(phrases[text], members, shared_advice(text, members, advice), nodes)
        for text, members in by_reason.items()
        if members
    ]
    reasons = [with_effects(simulation, reason, changes, until) for reason in reasons]
    return sorted(
        reasons,
        key=lambda reason: (reason.placeable, reason.reason_phrase.template == NOT_EVALUATED, -reason.count, is_of_capacity(reason)),
    )


def _summary(count: int, elsewhere: int, reasons: int, unread: Unread | None) -> Phrase:
    """`count` without the pods that ask for another scheduler, of which there are `elsewhere`."""
    others = counted(elsewhere, "{count} pod is pending for another scheduler", "{count} pods are pending for another scheduler")
    if elsewhere and not count:
        return phrase("{others}.", others=others)
    if not count and unread is not None:
        objects = counted(unread.objects, "{count} object", "{count} objects")
        return phrase("Only {objects} could be read, and no pending pod is among them: {why}", objects=objects, why=unread.why)
    if not count:
        return phrase("No pod is pending.")
    pods = counted(count, "{count} pod is pending", "{count} pods are pending")
    if count == 1:
        return pods if not elsewhere else phrase("{pods}; {others}", pods=pods, others=others)
    for_ = counted(reasons, "{count} reason", "{count} reasons")
    if elsewhere:
        return phrase("{pods}, for {reasons}; {others}", pods=pods, reasons=for_, others=others)
    return phrase("{pods}, for {reasons}", pods=pods, reasons=for_)
