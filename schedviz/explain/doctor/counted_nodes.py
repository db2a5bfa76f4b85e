"""Findings about the numbers of nodes that the scheduler's messages count: against its dump, against the API, and in themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from schedviz.explain.doctor.differences import difference, note
from schedviz.explain.finding import Finding
from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.parsed_message import Message, NotAMessageError
from schedviz.kube.core import Node, Pod
from schedviz.trace.phrase import Phrase, counted, phrase, some

#: The kind of finding that a message counts another number of nodes.
NODE_COUNT: Final = "node count"
_WAITS: Final = "Pending"
_RESTART: Final = phrase("restart kube-scheduler, which rebuilds its list of nodes; then upgrade it")
_ONE_MOMENT: Final = phrase("take the message and the dump at the same moment: send SIGUSR2 again while the pod is pending")

_IMPORT_NODES: Final = phrase("also import the output of `kubectl get nodes -o json`")


def counted_nodes(
    scheduler_messages: Mapping[str, str], pods: Mapping[str, Pod], *, nodes: Mapping[str, Node] | None, cached: int | None
) -> Iterator[Finding]:
    """Findings about messages (`namespace/name` → text), and about those in the conditions of pending pods.

    `nodes` are the API's (None: unknown), `cached` the number of those in a dump of the scheduler's cache (None: there is no dump).
    """
    by_key = {pod.key: pod for pod in pods.values()}
    messages = dict(_parsed({**scheduler_messages, **_conditions(by_key)}))
    yield from _lost(messages, by_key, nodes or {})
    if cached is not None:
        yield from _differing_counts(messages, cached, has_dump=True)
    elif nodes:
        yield from _differing_counts(messages, len(nodes), has_dump=False)


def _conditions(pods: Mapping[str, Pod]) -> dict[str, str]:
    """The messages of pods that still wait, as the API has them."""
    return {
        key: condition.message
        for key, pod in pods.items()
        if not pod.spec.node_name and pod.status.phase in ("", _WAITS)
        for condition in pod.status.conditions
        if condition.type == "PodScheduled" and condition.message
    }


def _parsed(messages: Mapping[str, str]) -> Iterator[tuple[str, Message]]:
    for pod, text in messages.items():
        try:
            message = parse_message(text)
        except NotAMessageError:
            continue
        if message.nodes:
            yield pod, message


def _lost(messages: Mapping[str, Message], pods: Mapping[str, Pod], nodes: Mapping[str, Node]) -> Iterator[Finding]:
    """Messages whose reasons leave nodes out although their scheduler evaluates every node."""
    lost = {pod: message for pod, message in messages.items() if message.loses_nodes}
    if not lost:
        return
    key, message = next(iter(lost.items()))
    names = sorted({name for key in lost if key in pods for name in _required(pods[key]) if not nodes or name in nodes})
    sentence = phrase(
        "the scheduler counts {nodes} nodes for {pods} but has a reason for only {reasons} of them: it did not evaluate the others{names}",
        nodes=message.nodes,
        pods=some(sorted(lost)),
        reasons=message.nodes - message.unaccounted,
        names=phrase(" (the pods require {names})", names=some(names)) if names else "",
    )
    cause = phrase(
        "kube-scheduler 1.18.0 to 1.18.6 loses nodes from the list that it iterates when zones have different numbers "
        "of nodes: it visits one node twice and skips another (kubernetes issue 91601). The cache and the API have all "
        "of them"
    )
    yield difference("lost node", f"Pod {key}", ("snapshot", "cache"), sentence, cause, _RESTART)


def _required(pod: Pod) -> Iterator[str]:
    """The names of the nodes that a pod requires, as a DaemonSet's pods do."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    for term in required.node_selector_terms if required is not None else ():
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In":
                yield from field.values


def _differing_counts(messages: Mapping[str, Message], node_count: int, *, has_dump: bool) -> Iterator[Finding]:
    """Messages that count another number of nodes than a dump, or than the API."""
    others: dict[int, list[str]] = {}
    for pod, message in messages.items():
        if message.nodes != node_count:
            others.setdefault(message.nodes, []).append(pod)
    for count, pods in sorted(others.items()):
        names = some(sorted(pods))
        nodes = counted(count, "{count} node", "{count} nodes")
        if has_dump:
            sentence = phrase(
                "the scheduler's message about {pods} counts {nodes}, and its dump has {known}", pods=names, nodes=nodes, known=node_count
            )
            yield difference(NODE_COUNT, f"Pod {min(pods)}", ("snapshot", "dump"), sentence, _why_dump(count > node_count), _ONE_MOMENT)
        else:
            more = phrase("the scheduler evaluated {nodes} for {pods}, but the files contain only {known}")
            fewer = phrase("the scheduler evaluated {nodes} for {pods}, but the files contain {known}")
            sentence = Phrase((more if count > node_count else fewer).template, {"pods": names, "nodes": nodes, "known": node_count})
            yield note(NODE_COUNT, f"Pod {min(pods)}", ("snapshot", "API"), sentence, _why_api(count > node_count), _IMPORT_NODES)


def _why_dump(is_more: bool) -> Phrase:  # noqa: FBT001
    if is_more:
        return phrase("the dump was truncated, or a node has been missing from the scheduler's cache since that message")
    return phrase("the list of nodes that the scheduler iterates lacks nodes of its cache, or nodes were added since that message")


def _why_api(is_more: bool) -> Phrase:  # noqa: FBT001
    if is_more:
        return phrase("some nodes were not collected, or have been deleted since")
    return phrase("nodes were added since, or a node is missing from the scheduler's cache")
