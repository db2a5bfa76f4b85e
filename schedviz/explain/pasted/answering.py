"""`answer_about`: what to read first about a pod of a text, from its messages and the other events of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Literal

from schedviz.engine.framework.plugins import names
from schedviz.explain.autoscalers.unresolved_pool import without_instance_types
from schedviz.explain.autoscalers.verdict import AllRepeats, Verdict, verdict_of_all
from schedviz.explain.messages.main_reason import is_of_broken_nodes
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_first, shown_name
from schedviz.explain.pasted.claim_events import is_of_stateful_set, provisioning_failure
from schedviz.explain.pasted.joined_nodes import Joined
from schedviz.explain.pasted.placed_pods import being_deleted, deleted, not_running, not_running_by_table, scheduled, started
from schedviz.explain.pasted.pod_answer import Event, PodAnswer
from schedviz.explain.pasted.preempted_pods import of_preemption
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.explain.reason_tables.kubelet import KUBELET
from schedviz.explain.reason_tables.preemption import waits_for_victims
from schedviz.explain.reason_tables.queues import GROUP_SCHEDULERS
from schedviz.explain.reason_tables.whole import DESCRIPTION, GATED, PLACED, POD_OBJECT, SCHEDULER_LOG, STATUS, TABLE_OF_PODS
from schedviz.trace.phrase import Phrase, counted, joined, phrase

#: Reasons of an autoscaler in a sentence, and errors about its pools.
_LISTED: Final = 2
#: The reason of the kubelet's event for a pod that has no network, and what the reasons of its node have.
NO_NETWORK: Final = "NetworkNotReady"
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
#: Objects of the cloud that a node class selects.
_SELECTED: Final = re.compile(r"\bno (subnets|security groups|AMIs|amis)\b")
#: What their selectors in a node class are called.
_SELECTED_BY: Final = {"subnets": "subnet", "security groups": "security group", "amis": "AMI"}


def answer_about(
    pod: str,
    messages: Sequence[ParsedMessage],
    events: Sequence[Event],
    age: Callable[[str], float],
    repeats: AllRepeats,
    *,
    newest: Sequence[ParsedMessage],
    on_joined_nodes: Joined | None,
    of_claims: Sequence[Event],
) -> PodAnswer:
    """The answer. `newest`: the newest message of each source. `on_joined_nodes`: why nodes that an autoscaler added are no use.

    `of_claims`: the events about claims of the pod.
    """
    if newest[0].text.startswith(PLACED):
        return not_running(pod, newest[0].text)
    if newest[0].text.startswith(STATUS) and not newest[0].text.startswith(f"{STATUS}{GATED}"):
        return not_running_by_table(pod, newest[0].text.removeprefix(STATUS))
    if newest[0].writer == KUBELET and (begun := started(newest[0], events, age)) is not None:
        return begun
    placed = [event for event in events if event.node and event.pod == pod and pod]
    # The kubelet speaks of pods that have a node.
    if placed and newest[0].writer != KUBELET and _is_newest(placed[-1], newest, age):
        return scheduled(placed[-1], [event for event in events if event.reason and event.pod == pod])
    removed = [event for event in events if event.is_deleted and event.pod == pod]
    # The scheduler tries no pod again that is being deleted.
    tried = [message for message in newest if not message.text.startswith(_DELETING)]
    if removed and _is_newest(removed[-1], tried, age):
        return deleted(pod, removed[-1].at)
    if newest[0].text.startswith(_DELETING) and len(messages) > 1:
        return being_deleted(pod)
    note = _earlier(messages, age) or _of_network(newest, events)
    sentence, advice = of_nomination(pod, newest[0], events)
    standing: Literal["pending", "coming", "notCreated"] = "pending"
    if sentence is None:
        verdict, standing = _of_writers(newest, messages, age, repeats)
        sentence, advice = verdict.sentence, verdict.advice
        note = verdict.note if sentence is not None and verdict.note is not None else note
        if on_joined_nodes is not None:
            sentence, advice = on_joined_nodes.sentence, on_joined_nodes.advice
            standing = "pending"
    errors = [event for event in events if event.pool]
    unresolved = next((without_instance_types(each.text, errors) for each in newest if each.writer == KARPENTER), None)
    if unresolved is not None and standing == "pending":
        # Its error about the NodePool is the sentence.
        sentence, advice, note, errors = unresolved.sentence, unresolved.advice, unresolved.note, []
    preempted = of_preemption(pod, events)
    notes = [*(each for each in (note, preempted) if each is not None), *_of_pools(newest, errors), *_of_offers(newest, events)]
    note = joined(notes, "{first} {next}") if notes else None
    # Names alone are no proof: the scheduler has to speak of claims, too.
    if sentence is None and any(clause.plugin == names.VOLUME_BINDING for message in newest for clause in message.message.clauses):
        sentence, advice = _of_claims(pod, of_claims, age)
    return PodAnswer(
        pod,
        standing,
        sentence.text if sentence is not None else "",
        sentence,
        advice.text if advice is not None else "",
        advice,
        note.text if note is not None else "",
        note,
    )


def _is_newest(event: Event, messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> bool:
    """Whether a pod was placed or deleted after its messages. That happens once, unless it is created again with the same name."""
    return not event.at or all(age(event.at) <= age(message.at) for message in messages)


def _of_writers(
    newest: Sequence[ParsedMessage], messages: Sequence[ParsedMessage], age: Callable[[str], float], repeats: AllRepeats
) -> tuple[Verdict, Literal["pending", "coming", "notCreated"]]:
    """What an autoscaler or the API server said last, and what to do about it: it decides whether waiting helps."""
    of_others = (message for message in newest if message.writer and message.writer not in GROUP_SCHEDULERS)
    said = min(of_others, key=lambda message: age(message.at), default=None)
    if said is None or said.writer in (DESCRIPTION, POD_OBJECT, TABLE_OF_PODS, SCHEDULER_LOG, KUBELET):
        return Verdict(None), "pending"
    if said.writer not in (CLUSTER_AUTOSCALER, KARPENTER):
        # The clause itself says it.
        return Verdict(None), "notCreated"
    of_autoscalers = [said, *(message for message in newest if message is not said and message.writer in (CLUSTER_AUTOSCALER, KARPENTER))]
    verdict = verdict_of_all(of_autoscalers, messages, age, repeats)
    return verdict, "coming" if verdict.is_coming else "pending"


def is_refused(
    answer: PodAnswer, newest: Sequence[ParsedMessage], messages: Sequence[ParsedMessage], age: Callable[[str], float], repeats: AllRepeats
) -> bool:
    """Whether the answer is why an autoscaler adds no node for a pod that its scheduler's newest message is about, too."""
    if answer.standing != "pending" or newest[0].writer or answer.sentence_phrase is None:
        return False
    verdict, _ = _of_writers(newest, messages, age, repeats)
    return answer.sentence_phrase == verdict.sentence and not verdict.is_coming and not verdict.is_late


def of_nomination(pod: str, newest: ParsedMessage, events: Sequence[Event]) -> tuple[Phrase | None, Phrase | None]:
    """That preemption has made room for the pod, which only waits, by its scheduler's newest message; and what to do if that takes long."""
    nominated = next((event.nominated_node for event in events if event.nominated_node and event.pod == pod and pod), "")
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


def _of_claims(pod: str, events: Sequence[Event], age: Callable[[str], float]) -> tuple[Phrase | None, Phrase | None]:
    """Why a claim of the pod has no volume, and what to do about it."""
    failed = min(events, key=lambda event: age(event.at), default=None)
    if failed is None:
        return None, None
    cause, advice = provisioning_failure(failed.message, is_of_template=is_of_stateful_set(failed.claim, pod))
    if not failed.claim:
        return phrase("A claim of the pod has no volume: {cause} ({message}).", claim="", cause=cause, message=failed.message), advice
    return phrase(
        "The claim `{claim}` has no volume: {cause} ({message}).", claim=shown_name(failed.claim), cause=cause, message=failed.message
    ), advice


def _of_pools(newest: Sequence[ParsedMessage], events: Sequence[Event]) -> list[Phrase]:
    """What Karpenter's log says about its NodePools beside its refusal of the pod."""
    errors = [event for event in events if event.pool]
    if not errors or all(message.writer != KARPENTER or not message.pod for message in newest):
        return []
    return [
        phrase(
            "Karpenter also reports for NodePool `{pool}`: {error}. {advice}.",
            pool=event.pool,
            error=event.message,
            advice=advice_about_pool(event),
        )
        for event in errors[:_LISTED]
    ]


def advice_about_pool(event: Event) -> Phrase:
    if found := _SELECTED.search(event.message):
        return phrase(
            "First correct the {what} selector in its EC2NodeClass: `kubectl get ec2nodeclasses -o yaml`",
            what=_SELECTED_BY[found[1].lower()],
        )
    return phrase("First check the NodePool and its node class: `kubectl describe nodepool {pool}`", pool=event.pool)


def _of_offers(newest: Sequence[ParsedMessage], events: Sequence[Event]) -> list[Phrase]:
    """What described nodes offer of the devices that a message says are insufficient."""
    nodes = [event.offers for event in events if event.offers]
    if not nodes:
        return []
    lacking = [_DEVICES.fullmatch(clause.reason) for message in newest for clause in message.message.clauses]
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


def _of_network(newest: Sequence[ParsedMessage], events: Sequence[Event]) -> Phrase | None:
    """What a pod on a node that is not ready says about its network."""
    if not any(_NOT_READY in clause.reason for message in newest for clause in message.message.clauses):
        return None
    event = next((event for event in events if event.reason == NO_NETWORK), None)
    if event is None:
        return None
    return phrase(
        "The nodes are not ready because their network is not: {pod} reports: {message}", pod=shown_name(event.pod), message=event.message
    )


def _earlier(messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> Phrase | None:
    """A node that became unhealthy and had another reason before: its repair alone may not help."""
    of_scheduler = [message for message in newest_first(messages, age) if not message.writer]
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
    clauses = [clause for clause in message.message.clauses if clause.advice]
    return answer is not None and bool(answer.sentence) and bool(message.writer) and len(clauses) <= _LISTED
