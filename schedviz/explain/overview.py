"""Overview of all pending pods: grouped by equal scheduling requirements, and the groups by the reason why they are pending."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.cache.debugger.dumper import NAME_ONLY_GATE
from schedviz.explain.changes.change import Change, ChangeView, what_to_do
from schedviz.explain.changes.placed_together import PodAndChanges, phrase_of_placed
from schedviz.explain.changes.smallest import search_change
from schedviz.explain.details.detail import MAX_NAMES
from schedviz.explain.details.resources import TOO_LARGE
from schedviz.explain.details.short_names import ShortNames
from schedviz.explain.doctor.known_findings import MISSED_POD, KnownFindings, unknown_nodes
from schedviz.explain.doctor.object_events import KIND as EVENT
from schedviz.explain.equivalence import groups
from schedviz.explain.explanation import Clause, Explanation, Outlook, Part, Standing
from schedviz.explain.meaning import Named
from schedviz.explain.queue_place import is_name_only, queue_place
from schedviz.explain.real_message import what_to_add
from schedviz.explain.reasons import general_advice, meaning_of
from schedviz.explain.resource_names import resource_name
from schedviz.explain.sentence import plain
from schedviz.explain.why import NO_FINDINGS, explain_pod, find_pod
from schedviz.kube.core import Pod
from schedviz.trace.phrase import Phrase, counted, joined, phrase, some

#: Groups that are explained; the pods of others are only counted.
MAX_GROUPS: Final = 200
#: Time for changes that would place pods: after it, no search begins.
SECONDS_FOR_CHANGES: Final = 1.0
#: Missing claims of different names are one reason.
_NAME: Final = re.compile(r'"[^"]*"')
_SEVERAL: Final = 2
#: Longer sentences are no titles.
_SHORT: Final = 120
_UNTRIED: Final = phrase(
    "The files contain no nodes, so scheduling was not simulated. To simulate it and find verified fixes, import the output of:"
)
_PRINTS_NODES: Final = "kubectl get nodes,pods,pv,pvc,sc,events -A -o json"
_UNKNOWN: Final = phrase("unknown to the scheduler")
_NOT_EVALUATED: Final = "not evaluated: the files contain no {kind} objects"
_OF_CLAUSE: Final = "{reason}"
_JOINED: Final = "{first}; {next}"
_INSUFFICIENT: Final = "Insufficient "
_OTHER_SCHEDULER: Final = "pending for another scheduler, {scheduler}"
_TRIED_SOON: Final = "not tried yet: they fit on nodes now"


class PendingGroup(Part, frozen=True):
    """Pods with equal scheduling requirements: what holds for the first holds for all."""

    #: `namespace/name`; the first was explained.
    pods: tuple[str, ...]
    standing: Standing
    sentence: str
    message: str
    outlook: Outlook
    clauses: tuple[Clause, ...]
    sentence_phrase: Phrase | None = None
    #: Why the pods are pending, in one plain sentence; "" if no reason of the scheduler says it.
    headline: str = ""
    headline_phrase: Phrase | None = None
    #: The numbers behind the main clause; "" if there are none.
    detail: str = ""
    detail_phrase: Phrase | None = None
    #: What an autoscaler said about the first pod, by an Event of the files; "": nothing.
    event: str = ""
    event_phrase: Phrase | None = None
    #: The smallest change with which a dry run places the first pod; empty: none was found, or looked for.
    changes: tuple[ChangeView, ...] = ()
    #: As `effect` of the reason, if the changes of its groups differ.
    effect: str = ""
    effect_phrase: Phrase | None = None


class WaitingReason(Part, frozen=True):
    """Groups that wait for the same reason, or that the same change would place."""

    #: Its name: the reason of the explanation's main clause, or what else the pods wait for. Groups of several reasons name each.
    reason: str
    reason_phrase: Phrase
    #: The same in one plain sentence, with the numbers that all groups have in common.
    headline: str
    headline_phrase: Phrase
    #: Whether `reason` is the scheduler's own text, which is shown besides.
    is_quoted: bool
    #: The number of pods.
    count: int
    groups: tuple[PendingGroup, ...]
    #: They only wait for their next attempt: they fit on nodes now, and nothing prevents an attempt.
    placeable: bool = False
    #: What to do about it, with commands between backticks. "" if there is nothing to do, or if `changes` of this reason or of its
    #: groups say it.
    advice: str = ""
    #: The verified change that all groups have in common; empty: they have none, or different ones.
    changes: tuple[ChangeView, ...] = ()
    #: How many of the pods it places together, and what would place the others: "places only 1 of 4 pods; for the others, …". "": one pod,
    #: or nobody counted.
    effect: str = ""
    effect_phrase: Phrase | None = None
    #: For translation.
    advice_phrase: Phrase | None = None

    def besides(self, group: PendingGroup) -> str:
        """What a group says besides the headline: its own sentence, or else its numbers; "" if the headline has said it."""
        return next((said for said in (group.headline, group.detail) if said not in ("", self.headline)), "")


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
        """The further reasons in the message of a pod that could not be tried on nodes, the most likely cause first."""
        if len(reason.groups) != 1 or reason.reason_phrase.template == _NOT_EVALUATED:
            return ()
        [group] = reason.groups
        if any(clause.nodes for clause in group.clauses):
            return ()
        return tuple(clause for clause in group.clauses[1:] if clause.advice and _counted_reason(clause) not in self._common)

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


class _Nodes(NamedTuple):
    """What headlines say about the nodes of the cluster."""

    short: ShortNames
    #: The number of cordoned nodes.
    cordoned: int


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
    elsewhere = sum(reason.count for reason in reasons if reason.reason_phrase.template == _OTHER_SCHEDULER)
    summary = _summary(count - elsewhere, elsewhere, sum(reason.reason_phrase.template != _OTHER_SCHEDULER for reason in reasons), unread)
    untried = count > 0 and not any(explanation.nodes for explanation, _ in explained)
    return Overview(
        summary.text,
        summary,
        count,
        reasons,
        note=_UNTRIED.text if untried else "",
        note_phrase=_UNTRIED if untried else None,
        command=_PRINTS_NODES if untried else "",
        common=_common_clauses([explanation for explanation, _ in explained]) if untried else (),
        unexplained=sum(map(len, every[MAX_GROUPS:])),
        release="" if untried else simulation.settings.release,
    )


def _common_clauses(explanations: Sequence[Explanation]) -> tuple[Clause, ...]:
    """The reasons, except each first one, that all messages have for as many nodes."""
    if len(explanations) < _SEVERAL:
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
        reason = _UNKNOWN if findings.is_unknown(explanation.pod) else _reason(simulation, explanation)
        phrases.setdefault(reason.text, reason)
        advice[explanation.pod] = _advice(explanation)
        by_reason.setdefault(reason.text, []).append(_group(explanation, pods, is_of_clause=_is_quoted(reason)))
        if reason.template == _OF_CLAUSE and _may_have_change(explanation):
            searched.setdefault(reason.text, []).append(explanation)
    until = time.perf_counter() + SECONDS_FOR_CHANGES
    changes = _changes(simulation, searched, until) if with_changes else {}
    views = {pod: tuple(change.view for change in found) for pod, found in changes.items()}
    by_reason = {
        text: [msgspec.structs.replace(group, changes=views.get(group.pods[0], ())) for group in members]
        for text, members in by_reason.items()
    }
    known = [info.node for info in simulation.scheduler.state.cache.nodes if info.node is not None]
    nodes = _Nodes(ShortNames([node.name for node in known]), sum(node.spec.unschedulable for node in known))
    reasons = [*_joined(by_reason, phrases, nodes)]
    reasons += [
        _waiting(phrases[text], members, _shared_advice(text, members, advice), nodes) for text, members in by_reason.items() if members
    ]
    reasons = [_with_effects(simulation, reason, changes, until) for reason in reasons]
    return sorted(
        reasons,
        key=lambda reason: (reason.placeable, reason.reason_phrase.template == _NOT_EVALUATED, -reason.count, _is_of_capacity(reason)),
    )


def _is_of_capacity(reason: WaitingReason) -> bool:
    """Whether the pods wait for room: of equally many, others come first, whose remedy is often one command."""
    kinds = {change.kind for change in (*reason.changes, *(change for group in reason.groups for change in group.changes))}
    return reason.reason.startswith(_INSUFFICIENT) or not kinds.isdisjoint({"node", "victim"})


def _may_have_change(explanation: Explanation) -> bool:
    """Whether to look for a change that places the pod."""
    return explanation.standing == "pending" and explanation.lacks_change and not explanation.group


def _changes(simulation: Simulation, searched: dict[str, list[Explanation]], until: float) -> dict[str, tuple[Change, ...]]:
    """Pod -> the smallest change that would place it, for as many pods as there is time for; one pod of each reason first."""
    in_turn = (each for turn in itertools.zip_longest(*searched.values()) for each in turn if each is not None)
    found: dict[str, tuple[Change, ...]] = {}
    for explanation in in_turn:
        if time.perf_counter() > until:
            break
        smallest, search = search_change(simulation, explanation.pod, explanation)
        if smallest.suggestions and not _is_far_fetched(changes := search.changes_behind(smallest.suggestions[0])):
            found[explanation.pod] = changes
    return found


def _is_far_fetched(changes: Sequence[Change]) -> bool:
    """Whether general advice is better: to request a fraction, or to take nodes without the labels and add some of them."""
    kinds = {change.kind for change in changes}
    return any(change.kind == "request" and change.is_unlikely for change in changes) or kinds == {"selector", "node"}


def _with_effects(simulation: Simulation, reason: WaitingReason, changes: dict[str, tuple[Change, ...]], until: float) -> WaitingReason:
    """The reason with how many of its pods its change places together, or each group with that of its own."""
    if reason.changes:
        effect = _effect(simulation, reason.groups, changes, until)
        return reason if effect is None else msgspec.structs.replace(reason, effect=effect.text, effect_phrase=effect)
    effects = [_effect(simulation, [group], changes, until) for group in reason.groups]
    if not any(effects):
        return reason
    groups_ = (
        group if effect is None else msgspec.structs.replace(group, effect=effect.text, effect_phrase=effect)
        for group, effect in zip(reason.groups, effects, strict=True)
    )
    return msgspec.structs.replace(reason, groups=tuple(groups_))


def _effect(simulation: Simulation, members: Sequence[PendingGroup], changes: dict[str, tuple[Change, ...]], until: float) -> Phrase | None:
    """How many of the pods of groups their changes place together; None if a group has none."""
    if not all(group.pods[0] in changes for group in members):
        return None
    keys = ((key, changes[group.pods[0]]) for group in members for key in group.pods)
    return phrase_of_placed(simulation, [PodAndChanges(find_pod(simulation, key), found) for key, found in keys], until)


def _joined(by_reason: dict[str, list[PendingGroup]], phrases: dict[str, Phrase], nodes: _Nodes) -> Iterator[WaitingReason]:
    """Groups of different reasons that the same change would place; they are taken out of `by_reason`."""
    reasons: dict[str, dict[str, None]] = {}
    for text, members in by_reason.items():
        for group in filter(lambda group: group.changes, members):
            reasons.setdefault(what_to_do(group.changes), {})[text] = None
    for what, texts in reasons.items():
        if len(texts) > 1:
            groups_ = [group for text in texts for group in by_reason[text] if what_to_do(group.changes) == what]
            for text in texts:
                by_reason[text] = [group for group in by_reason[text] if what_to_do(group.changes) != what]
            yield _waiting(joined([phrases[text] for text in texts], _JOINED), groups_, None, nodes)


def _waiting(reason: Phrase, members: Sequence[PendingGroup], advice: Phrase | None, nodes: _Nodes) -> WaitingReason:
    placeable = reason.template == _TRIED_SOON
    count = sum(len(group.pods) for group in members)
    common = members[0].changes if len({what_to_do(group.changes) for group in members}) == 1 else ()
    # What to do about some groups would be read as what to do about all of them.
    said = advice if not placeable and not any(group.changes for group in members) else None
    headline = _headline(reason, members, common, nodes)
    return WaitingReason(
        reason=reason.text,
        reason_phrase=reason,
        headline=headline.text,
        headline_phrase=headline,
        is_quoted=_is_quoted(reason),
        count=count,
        groups=tuple(members),
        placeable=placeable,
        advice=said.text if said is not None else "",
        changes=common,
        advice_phrase=said,
    )


def _headline(reason: Phrase, members: Sequence[PendingGroup], common: Sequence[ChangeView], nodes: _Nodes) -> Phrase:
    """What the groups have in common, in one plain sentence."""
    headlines = {group.headline: group.headline_phrase for group in members}
    if len(headlines) == 1 and (shared := members[0].headline_phrase) is not None:
        was_tried = any(clause.nodes for clause in members[0].clauses)
        # Below a short title, each group says its sentence.
        return min(shared, _in_general(reason), key=lambda said: len(said.text)) if was_tried and len(shared.text) > _SHORT else shared
    if all(group.headline_phrase is not None and group.headline_phrase.template == TOO_LARGE for group in members):
        return phrase("the pods request more {resource} than any node has", resource=resource_name(reason.text.removeprefix(_INSUFFICIENT)))
    # Verified: with the change they fit, and without it they do not.
    match [(change.kind, change.phrase.values) for change in common]:
        case [("uncordon", values)] if nodes.cordoned == 1:
            return phrase("node {node} is cordoned, and these pods fit on no other node", node=nodes.short.of(str(values["node"])))
        case [("uncordon", values)]:
            template = "{count} nodes are cordoned, such as {node}, and these pods fit on no other node"
            return phrase(template, count=nodes.cordoned, node=nodes.short.of(str(values["node"])))
        case [("toleration", values)]:
            return phrase("these pods do not tolerate the taint `{taint}`, and fit on no node without it", taint=values["taint"])
    return _in_general(reason)


def _in_general(reason: Phrase) -> Phrase:
    """A reason of the scheduler in one plain sentence that is true for every pod; another reason as it is."""
    if reason.template == _JOINED:
        return Phrase(_JOINED, {name: _in_general(part) for name, part in reason.values.items() if isinstance(part, Phrase)})
    if not _is_quoted(reason):
        return reason
    meaning = meaning_of(reason.text)
    return reason if meaning is None else meaning.headline(0)


def _is_quoted(reason: Phrase) -> bool:
    """Whether it is the scheduler's own text."""
    return reason.template in (_OF_CLAUSE, _JOINED)


def _shared_advice(reason: str, members: Sequence[PendingGroup], advice: dict[str, Phrase | None]) -> Phrase | None:
    """What to do about groups of which none has a change: the first group's advice, without the names in its commands if they differ."""
    every = [advice[group.pods[0]] for group in members]
    first = next((each for each in every if each is not None), None)
    if first is None or all(each is None or each.text == first.text or each.template != first.template for each in every):
        return first
    names = Named().values
    meaning = meaning_of(reason)
    general = general_advice(first.template)
    if meaning is not None and general == first.template and not first.values.keys() <= {*names, *meaning.values}:
        # It names what only the first group's explanation knows.
        return meaning.advice_phrase() or _as_phrase(meaning.advice)
    return Phrase(general, {name: names.get(name, value) for name, value in first.values.items()})


def _advice(explanation: Explanation) -> Phrase | None:
    """What to do about the explanation's reason."""
    if explanation.lacks:
        return phrase("add the output of `{command}`", command=what_to_add(explanation.lacks))
    if explanation.standing in ("gated", "nominated", "ignored"):
        return explanation.advice_phrase or _as_phrase(explanation.advice)
    if explanation.group_holds_back:
        return None
    clause = explanation.main or _said_clause(explanation)
    return None if clause is None else clause.advice_phrase or _as_phrase(clause.advice)


def _as_phrase(text: str) -> Phrase | None:
    return Phrase(text, {}) if text else None


def _reason(simulation: Simulation, explanation: Explanation) -> Phrase:
    if explanation.lacks:
        return phrase(_NOT_EVALUATED, kind=explanation.lacks)
    match explanation.standing:
        case "gated" if is_name_only(explanation.queue):
            return phrase("only their names are known, from a SIGUSR2 dump")
        case "gated" if explanation.queue is not None and not explanation.queue.gated_by:
            return phrase("held by {plugin}", plugin=explanation.queue.gating_plugin)
        case "gated":
            return phrase("held by scheduling gates")
        case "ignored":
            pod = find_pod(simulation, explanation.pod)
            return phrase(_OTHER_SCHEDULER, scheduler=pod.spec.scheduler_name)
        case "waiting":
            return phrase("their bindings are in progress")
        case "nominated":
            return phrase("nominated to a node")
    if explanation.group_holds_back:
        return phrase("their pod group is incomplete")
    if explanation.group and explanation.fits:
        return phrase("they fit on nodes one by one, but their pod group is scheduled as a whole")
    if explanation.fits:
        return phrase(_TRIED_SOON)
    if explanation.main is not None:
        return Phrase(_OF_CLAUSE, {"reason": _NAME.sub('"…"', explanation.main.reason)})
    if (said := _said_clause(explanation)) is not None:
        return Phrase(_OF_CLAUSE, {"reason": _NAME.sub('"…"', said.reason)})
    return (
        phrase("every scheduling attempt fails with an error")
        if explanation.failed
        else phrase("not evaluated: there are no nodes to schedule them on")
    )


def _said_clause(explanation: Explanation) -> Clause | None:
    """Without nodes only the scheduler's own message answers: its most likely cause; None if there is none."""
    if explanation.nodes or not explanation.said:
        return None
    return next(iter(explanation.clauses), None)


def _group(explanation: Explanation, pods: Sequence[Pod], *, is_of_clause: bool) -> PendingGroup:
    detail = (
        _detail(explanation)
        or (explanation.cause_phrase if not explanation.nodes else None)
        or _finding(explanation)
        or explanation.group_phrase
        or _event(explanation)
        or _where(explanation)
    )
    event = _autoscaler_event(explanation)
    clause = explanation.main or _said_clause(explanation)
    headline = plain(clause) if clause is not None and is_of_clause else None
    return PendingGroup(
        pods=tuple(pod.key for pod in pods),
        standing=explanation.standing,
        sentence=explanation.sentence,
        message=explanation.message,
        outlook=explanation.outlook,
        clauses=explanation.clauses,
        sentence_phrase=explanation.sentence_phrase,
        headline=headline.text if headline is not None else "",
        headline_phrase=headline,
        detail=detail.text if detail is not None else "",
        detail_phrase=detail,
        event=event.text if event is not None else "",
        event_phrase=event,
    )


def _detail(explanation: Explanation) -> Phrase | None:
    if explanation.lacks:
        said = next((clause.headline_phrase for clause in explanation.clauses if clause.headline_phrase is not None), explanation.said)
        return phrase("its scheduler reported: {message}", message=said)
    if is_name_only(explanation.queue) and explanation.said:
        return phrase("its scheduler reported: {message}", message=explanation.said)
    if is_name_only(explanation.queue):
        return phrase("its requests are not in the dump: add the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`")
    if explanation.queue is not None and explanation.queue.gated_by:
        return phrase("gates: {gates}", gates=explanation.queue.gated_by)
    if explanation.standing == "gated" and explanation.queue is not None:
        return Phrase("{reason}", {"reason": explanation.queue.gating_reason})
    if explanation.victims:
        if len(explanation.victims) == 1:
            return phrase("waiting on {node} until {victim} has terminated", node=explanation.node, victim=explanation.victims[0])
        return phrase("waiting on {node} until {victims} have terminated", node=explanation.node, victims=some(explanation.victims))
    if _said_clause(explanation) is not None:
        return phrase("its scheduler reported: {message}", message=explanation.said)
    if explanation.standing == "pending" and explanation.fits and not explanation.findings and not explanation.group:
        return phrase("fits on {nodes}", nodes=counted(len(explanation.fits), "{count} node", "{count} nodes"))
    clause = explanation.main
    if clause is None:
        return None
    if clause.details:
        return clause.details[0].sentence_phrase
    return Phrase("{reason}", {"reason": clause.reason}) if _NAME.search(clause.reason) else None


def _where(explanation: Explanation) -> Phrase | None:
    """The nodes of the main reason, where nothing else is known about it."""
    clause = explanation.main
    return phrase("on {nodes}", nodes=some(clause.nodes)) if clause is not None and clause.nodes else None


def _finding(explanation: Explanation) -> Phrase | None:
    """The first difference that the doctor found: "node worker-4 is at the API, and the scheduler does not know it"."""
    is_missed = any(finding.kind == MISSED_POD for finding in explanation.findings)
    if len(explanation.fits) > len(unknown_nodes(explanation.findings)) and not is_missed:
        # The pod only waits for its attempt, whatever is wrong with other nodes.
        return None
    return next((finding.sentence_phrase for finding in explanation.findings if finding.differs), None)


def _event(explanation: Explanation) -> Phrase | None:
    """What an Event of the files says about the pod or its claims."""
    return next((finding.sentence_phrase for finding in explanation.findings if finding.kind == EVENT), None)


def _autoscaler_event(explanation: Explanation) -> Phrase | None:
    """What an Event of the pod itself means, which its autoscaler sent; None for a pod that nodes can take now."""
    own = (finding for finding in explanation.findings if finding.kind == EVENT and finding.about == f"Pod {explanation.pod}")
    found = next((finding for finding in own if finding.cause_phrase is not None), None)
    if found is None or explanation.fits or found.cause_phrase is None:
        return None
    return phrase("{cause} ({event})", cause=found.cause_phrase, event=found.sentence_phrase or found.sentence)


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
