"""`answer_about`: what to read first about a pod of a text, from its messages and the other events of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.autoscalers.unresolved_pool import without_instance_types
from schedviz.explain.autoscalers.verdict import Verdict, verdict_of_all
from schedviz.explain.messages.main_reason import is_of_broken_nodes
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_first, shown_name
from schedviz.explain.pasted.claim_events import is_of_stateful_set, provisioning_failure
from schedviz.explain.pasted.joined_nodes import Joined
from schedviz.explain.pasted.placed_pods import being_deleted, deleted, not_running, not_running_by_table, scheduled, started
from schedviz.explain.pasted.pod_answer import PodAnswer, Standing
from schedviz.explain.pasted.pod_context import PodContext
from schedviz.explain.pasted.pool_errors import notes_about_pools
from schedviz.explain.pasted.preempted_pods import preemption_note
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.explain.reason_tables.kubelet import KUBELET
from schedviz.explain.reason_tables.preemption import waits_for_victims
from schedviz.explain.reason_tables.queues import GROUP_SCHEDULERS
from schedviz.explain.reason_tables.whole import DESCRIPTION, POD_OBJECT, SCHEDULER_LOG, TABLE_OF_PODS
from schedviz.kube.event_reasons import NETWORK_NOT_READY
from schedviz.kube.pod_status import GATED, PLACED, STATUS
from schedviz.kube.text_facts import DeletedPod, NodeCapacity, NominatedPod, PlacedPod, PodWarning, PoolError
from schedviz.trace.phrase import Phrase, counted, phrase

#: The taint of a node without a network.
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_DELETING: Final = "skip schedule deleting pod"
#: What a pod waits for whose preemption has made room, and what to do if that takes long.
_VICTIMS_LEAVE: Final = phrase("The pod is waiting for the pods that preemption evicted from its nominated node to terminate.")
_WAIT: Final = phrase(
    "wait for them. If it takes longer than their grace period, find the node in the NOMINATED NODE column of "
    "`kubectl get pods -A -o wide`, and check the Terminating pods there, their finalizers, and the kubelet"
)
#: An extended resource of which nodes have too little.
_DEVICES: Final = re.compile(r"Insufficient ([^\s/]+/\S+)")
#: Clauses of an autoscaler's message that an answer covers.
_MAX_COVERED: Final = 2


def answer_about(context: PodContext, joined: Joined | None) -> PodAnswer:
    """The answer. `joined`: why nodes that an autoscaler added are no use to the pod; None: they may be, or none was added."""
    ended = _final_answer(context)
    if ended is not None:
        return ended
    decisive, standing = _decisive(context, joined)
    note = decisive.note or _earlier_reason_note(context) or _network_note(context)
    pool_errors = [fact for fact in context.facts if isinstance(fact, PoolError)]
    unresolved = _unresolved_pool_verdict(context, pool_errors)
    if unresolved is not None and standing == "pending":
        # Its error about the NodePool is the sentence.
        decisive, note, pool_errors = unresolved, unresolved.note, []
    sentence, advice = decisive.sentence, decisive.advice
    if sentence is None:
        sentence, advice = _claim_sentences(context)
    notes = [each for each in (note, preemption_note(context.own_facts)) if each is not None]
    notes += notes_about_pools(context.newest, pool_errors)
    notes += _device_notes(context)
    answer = PodAnswer.of(context.pod, standing, sentence, advice)
    return answer.with_note(*notes) if notes else answer


def _final_answer(context: PodContext) -> PodAnswer | None:
    """That the pod has a node, has started, or was deleted since its messages; None: it waits for a node."""
    pod, newest = context.pod, context.newest[0]
    if newest.text.startswith(PLACED):
        return not_running(pod, newest.text)
    if newest.text.startswith(STATUS) and not newest.text.startswith(f"{STATUS}{GATED}"):
        return not_running_by_table(pod, newest.text.removeprefix(STATUS))
    # The kubelet speaks of pods that have a node.
    if newest.writer == KUBELET:
        begun = started(newest, context.facts, context.age)
        if begun is not None:
            return begun
    else:
        placed = [fact for fact in context.own_facts if isinstance(fact, PlacedPod)]
        if placed and _is_newest(placed[-1], context.newest, context.age):
            return scheduled(placed[-1], [fact for fact in context.own_facts if isinstance(fact, PodWarning)])
    removed = [fact for fact in context.own_facts if isinstance(fact, DeletedPod)]
    # The scheduler tries no pod again that is being deleted.
    tried = [message for message in context.newest if not message.text.startswith(_DELETING)]
    if removed and _is_newest(removed[-1], tried, context.age):
        return deleted(pod, removed[-1].at)
    if newest.text.startswith(_DELETING) and len(context.messages) > 1:
        return being_deleted(pod)
    return None


def _is_newest(fact: PlacedPod | DeletedPod, messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> bool:
    """Whether a pod was placed or deleted after its messages. That happens once, unless it is created again with the same name."""
    return not fact.at or all(age(fact.at) <= age(message.at) for message in messages)


def _decisive(context: PodContext, joined: Joined | None) -> tuple[Verdict, Standing]:
    """What decides whether the pod gets a node: preemption that made room, the nodes that joined, or what an autoscaler said last."""
    sentence, advice = nomination_sentences(context)
    if sentence is not None:
        return Verdict(sentence, advice), "pending"
    verdict, standing = _autoscaler_verdict(context)
    if joined is not None:
        return Verdict(joined.sentence, joined.advice, verdict.note), "pending"
    return verdict, standing


def _autoscaler_verdict(context: PodContext) -> tuple[Verdict, Standing]:
    """What an autoscaler or the API server said last, and what to do about it: it decides whether waiting helps."""
    of_others = (message for message in context.newest if message.writer and message.writer not in GROUP_SCHEDULERS)
    said = min(of_others, key=lambda message: context.age(message.at), default=None)
    if said is None or said.writer in (DESCRIPTION, POD_OBJECT, TABLE_OF_PODS, SCHEDULER_LOG, KUBELET):
        return Verdict(None), "pending"
    if said.writer not in (CLUSTER_AUTOSCALER, KARPENTER):
        # The clause itself says it.
        return Verdict(None), "notCreated"
    of_autoscalers = [said, *(message for message in context.newest_of_autoscalers if message is not said)]
    verdict = verdict_of_all(of_autoscalers, context.messages, context.age, context.repeats)
    return verdict, "coming" if verdict.is_coming else "pending"


def is_refused(answer: PodAnswer, context: PodContext) -> bool:
    """Whether the answer is why an autoscaler adds no node for a pod that its scheduler's newest message is about, too."""
    if answer.standing != "pending" or context.newest[0].writer or answer.sentence_phrase is None:
        return False
    verdict, _ = _autoscaler_verdict(context)
    return answer.sentence_phrase == verdict.sentence and not verdict.is_coming and not verdict.is_late


def nomination_sentences(context: PodContext) -> tuple[Phrase | None, Phrase | None]:
    """That preemption has made room for the pod, which only waits, by its scheduler's newest message; and what to do if that takes long."""
    newest = context.newest[0]
    nominated = next((fact.node for fact in context.own_facts if isinstance(fact, NominatedPod)), "")
    waits = any(waits_for_victims(clause.reason) for clause in newest.message.preemption)
    # A message without preemption's part is that of the attempt which nominated the pod.
    if newest.writer or not (waits or (nominated and newest.message.nodes and not newest.message.preemption)):
        return None, None
    if not nominated:
        return _VICTIMS_LEAVE, _WAIT
    advice = phrase(
        (
            "wait for them. If it takes longer than their grace period, list them with `kubectl get pods -A "
            "--field-selector spec.nodeName={node} | grep Terminating`, and check their finalizers and the kubelet of the "
            "node"
        ),
        node=nominated,
    )
    if waits:
        return phrase(
            "The pod is nominated to {node} and is waiting for the pods that preemption evicted there to terminate.", node=nominated
        ), advice
    return phrase(
        (
            "The pod is nominated to {node}: its scheduler has chosen that node, but the pods that preemption evicted "
            "there must terminate first."
        ),
        node=nominated,
    ), advice


def _unresolved_pool_verdict(context: PodContext, errors: Sequence[PoolError]) -> Verdict | None:
    """That Karpenter's limits only mean that a NodePool has no instance types, by the errors of its log."""
    of_karpenter = [message for message in context.newest if message.writer == KARPENTER]
    return next((without_instance_types(message.text, errors) for message in of_karpenter), None)


def _claim_sentences(context: PodContext) -> tuple[Phrase | None, Phrase | None]:
    """Why a claim of the pod has no volume, and what to do about it."""
    failed = min(context.failed_claims, key=lambda claim: context.age(claim.at), default=None)
    # Names alone are no proof: the scheduler has to speak of claims, too.
    if failed is None or all(clause.plugin != names.VOLUME_BINDING for message in context.newest for clause in message.message.clauses):
        return None, None
    cause, advice = provisioning_failure(failed.message, is_of_template=is_of_stateful_set(failed.claim, context.pod))
    if not failed.claim:
        return phrase("A claim of the pod has no volume: {cause} ({message}).", claim="", cause=cause, message=failed.message), advice
    return phrase(
        "The claim `{claim}` has no volume: {cause} ({message}).", claim=shown_name(failed.claim), cause=cause, message=failed.message
    ), advice


def _device_notes(context: PodContext) -> list[Phrase]:
    """What described nodes offer of the devices that a message says are insufficient."""
    nodes = [fact.allocatable for fact in context.facts if isinstance(fact, NodeCapacity)]
    if not nodes:
        return []
    lacking = [_DEVICES.fullmatch(clause.reason) for message in context.newest for clause in message.message.clauses]
    said = []
    for resource in dict.fromkeys(match[1] for match in lacking if match is not None):
        amounts = [node.get(resource, "0") for node in nodes]
        offered = [amount for amount in amounts if amount != "0"]
        if offered:
            said.append(
                phrase(
                    "A described node lists `{resource}: {amount}` under Allocatable, so its device plugin is running: other pods use "
                    "the devices of that node, or the pod requests more of them.",
                    resource=resource,
                    amount=offered[0],
                )
            )
        else:
            said.append(
                phrase(
                    "The described nodes do not offer `{resource}` under Allocatable: they have no such device, or the device plugin is "
                    "not running.",
                    resource=resource,
                )
            )
    return said


def _network_note(context: PodContext) -> Phrase | None:
    """What a pod on a node that is not ready says about its network."""
    if not any(_NOT_READY in clause.reason for message in context.newest for clause in message.message.clauses):
        return None
    warnings = (fact for fact in context.facts if isinstance(fact, PodWarning))
    warning = next((warning for warning in warnings if warning.reason == NETWORK_NOT_READY), None)
    if warning is None:
        return None
    return phrase(
        "The nodes are not ready because their network is not: {pod} reports: {message}",
        pod=shown_name(warning.pod),
        message=warning.message,
    )


def _earlier_reason_note(context: PodContext) -> Phrase | None:
    """A node that became unhealthy and had another reason before: its repair alone may not help."""
    of_scheduler = [message for message in newest_first(context.messages, context.age) if not message.writer]
    if len(of_scheduler) < 2 or of_scheduler[0].message.nodes != of_scheduler[1].message.nodes:
        return None
    now, before = (Counter({clause.reason: clause.count for clause in each.message.clauses}) for each in of_scheduler[:2])
    more, fewer = now - before, before - now
    broken = {clause.reason for clause in of_scheduler[0].message.clauses if is_of_broken_nodes(clause)}
    if not more or not more.keys() <= broken or len(fewer) != 1 or not of_scheduler[1].at:
        return None
    [(reason, count)] = fewer.items()
    return phrase(
        '{when}, {nodes} probably had the reason "{reason}", so a repair alone may not be enough.',
        when=of_scheduler[1].at,
        nodes=counted(count, "{count} node that is unhealthy now", "{count} nodes that are unhealthy now"),
        reason=reason,
    )


def says_all(answer: PodAnswer | None, message: ParsedMessage) -> bool:
    """Whether an answer says what this message of an autoscaler means."""
    if answer is None or not answer.sentence or not message.writer or message.writer in GROUP_SCHEDULERS:
        return False
    return len([clause for clause in message.message.clauses if clause.advice]) <= _MAX_COVERED
