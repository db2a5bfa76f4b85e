"""Finds in the logs of Karpenter and the cluster autoscaler why they add no node for a pod."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from schedviz.ingest.pasted.message_ends import whole_message
from schedviz.ingest.scheduler_messages import PodMessage

#: That the cluster autoscaler has no node group to scale up for the pending pods.
NO_OPTIONS: Final = "No expansion options"
#: Between the lines of the cluster autoscaler about one pod, which are one message.
BETWEEN_LINES: Final = " | "
#: The cluster autoscaler: why a node of a group would not help. Before 1.33 without the namespace.
_REFUSED: Final = re.compile(
    r"\bPod (?P<pod>[a-z0-9][a-z0-9./-]*+) can't be scheduled on (?P<group>[^\s,]++), predicate (?:checking error|failed): "
)
#: The same of a pod that is like one before: the reason is that of the other pod.
_CACHED: Final = re.compile(
    r"\bPod (?P<pod>[a-z0-9][a-z0-9./-]*+) can't be scheduled on (?P<group>[^\s,]{1,300}?)\. Used cached predicate check results"
)
_UNSCHEDULABLE: Final = re.compile(r"\bPod (?P<pod>[a-z0-9][a-z0-9.-]*+/[a-z0-9][a-z0-9.-]*+) is unschedulable")
#: A node group that it does not compare with the pod.
_GROUP: Final = re.compile(
    r"\bSkipping node group \S{1,300} - max size reached|\bNode group \S{1,300} is not ready for scale-?up(?: - (?:backoff|unhealthy))?"
    r"|\bSkipping node group \S{1,300}; maximal limit exceeded for [^\n]{1,200}"
)
#: A pod for which there is no room, and that it then leaves out: that of a DaemonSet, which runs on its own node only.
_NO_PLACE: Final = re.compile(r"\bfailed to find place for (?P<pod>[a-z0-9.-]++/[a-z0-9.-]++): [^\n;]{1,300}")
_DAEMON_SETS: Final = re.compile(r"\bFiltered out [1-9]\d{0,6} daemon set pods, 0 unschedulable pods left")
#: The node group that gets new nodes.
_RESIZED: Final = re.compile(r"\bBest option to resize: [A-Za-z0-9][\w./-]{0,250}")
#: Where a line says nothing more about the reason.
_END: Final = re.compile(r"; debugInfo=|; unexpectedError=")
#: The namespace of a pod that the log names without it.
_NAMESPACED: Final = re.compile(
    r'\bpod="(?P<key>[a-z0-9.-]++/[a-z0-9.-]++)"|Kind:"Pod", Namespace:"(?P<namespace>[a-z0-9.-]++)", Name:"(?P<name>[a-z0-9.-]++)"'
)
#: Karpenter: the error of a pod, from 0.35 on as a value of the line, in JSON or in its console format.
_KARPENTER: Final = re.compile(
    r'(?:"(?P<json>could not schedule pod|ignoring pod)"|\b(?P<console>could not schedule pod'
    r"|ignoring pod)[ \t]++(?=\{))(?P<values>[^\n]*+)"
)
_KARPENTER_WHY: Final = re.compile(r'"error": ?"(?P<why>(?:[^"\\\n]|\\.)*+)(?P<end>"?)')
_ERROR_OF_POD: Final = re.compile(
    r'"error": ?"(?P<why>(?:incompatible with (?:nodepool|provisioner) |did not tolerate taint \(|no instance type |all available )'
    r'(?:[^"\\]|\\.)*+)"',
    re.DOTALL,
)
#: The same at the beginning of a line, copied without its quotation marks; those within it may be escaped.
_BARE_ERROR: Final = re.compile(r'^[ \t]*+(?=incompatible with (?:nodepool|provisioner) \\{0,3}"[a-z0-9*])', re.MULTILINE)
_KARPENTER_POD: Final = re.compile(r'"Pod": ?\{"name": ?"([a-z0-9.*-]++)"(?:, ?"namespace": ?"([a-z0-9.*-]++)")?')
#: The only pod in a line of Karpenter's log that lists the pods for which it looks for nodes.
_PROVISIONABLE: Final = re.compile(r'"[Pp]ods": ?"(?P<pods>[a-z0-9][a-z0-9.,/ -]{0,2000})')
#: The values after a message in the console format.
_VALUES: Final = re.compile(r'\s*+\{"(?:commit|controller|pod|Pod|reconcileID)": ?.*$', re.DOTALL)
_VALUE_POD: Final = re.compile(r'"pod": ?"([a-z0-9.*-]++(?:/[a-z0-9.*-]++)?)"')
#: How the messages of autoscalers begin.
_OF_AUTOSCALER: Final = re.compile(
    r"pod (?:didn't trigger|triggered) scale-up|Pod should schedule on|Node scale up in zones |(?:could not|failed to) schedule pod|"
    r"ignoring pod|NodeClaim |NodePool |failed to find place for |Pod \S+ can't be scheduled on|Skipping node group |Node group |"
    r"No expansion options",
    re.IGNORECASE,
)
#: Longer reasons and messages are cut, and no more pods of one log are read.
_MAX_WHY: Final = 600
_MAX_PODS: Final = 200
_MAX_LINES: Final = 40


def messages_of_karpenter(text: str, start: int, stop: int) -> Iterator[PodMessage]:
    """The messages of Karpenter's log between two offsets whose error is a value of the line."""
    if " pod" not in text[start:stop]:
        return
    for logged in _KARPENTER.finditer(text, start, stop):
        if (reason := _KARPENTER_WHY.search(logged["values"])) is not None:
            owner = _KARPENTER_POD.search(logged["values"])
            pod = f"{owner[2] or 'default'}/{owner[1]}" if owner is not None else ""
            why = reason["why"] if reason["end"] else _without_cut_reason(reason["why"])
            yield PodMessage(pod, whole_message(f"{logged['json'] or logged['console']}, {why}", 0, 0)[0])


def _without_cut_reason(why: str) -> str:
    """An error whose line ends within it, as a terminal cuts it, without the reason of the NodePool that is not complete."""
    whole, between, _ = why.rpartition("; ")
    return f"{whole}{between}…" if whole else why


def karpenter_errors(text: str) -> Iterator[PodMessage]:
    """The error about a pod in a line of Karpenter's log that was printed on several lines, or of which only the error was copied."""
    for reason in _ERROR_OF_POD.finditer(text):
        owner = _KARPENTER_POD.search(text)
        pod = f"{owner[2] or 'default'}/{owner[1]}" if owner is not None else ""
        yield PodMessage(pod, whole_message(f"could not schedule pod, {' '.join(reason['why'].split())}", 0, 0)[0])
    pods = {found[1] for found in _VALUE_POD.finditer(text)}
    end = 0
    for bare in _BARE_ERROR.finditer(text):
        if bare.end() >= end:
            why, end = whole_message(text, bare.end(), bare.end())
            yield PodMessage(with_namespace(*pods) if len(pods) == 1 else "", f"could not schedule pod, {why}")


def without_values(message: str) -> tuple[str, str]:
    """A message without the values that the console format of a log writes after it, and the pod that they name; "": none."""
    found = _VALUES.search(message)
    if found is None:
        return message, ""
    pod = _VALUE_POD.search(found[0])
    return message[: found.start()].rstrip(), with_namespace(pod[1]) if pod is not None else ""


def with_namespace(pod: str) -> str:
    """`namespace/name` of a pod that a log may name without its namespace."""
    return pod if "/" in pod else f"default/{pod}"


def messages_of_cluster_autoscaler(text: str) -> Iterator[PodMessage]:
    """What the log of the cluster autoscaler says about each pod, as one message."""
    if (left_out := _DAEMON_SETS.search(text)) is not None:
        for found in list(_NO_PLACE.finditer(text))[:_MAX_PODS]:
            yield PodMessage(found["pod"], f"{found[0].strip()}{BETWEEN_LINES}{left_out[0]}")
    if "can't be scheduled on" not in text and "ode group " not in text and NO_OPTIONS not in text:
        return
    namespaces = _namespaces(text)
    lines: dict[str, list[str]] = {}
    heads = list(_REFUSED.finditer(text))
    starts = [head.start() for head in heads[1:]] + [len(text)]
    for head, next_start in zip(heads, starts, strict=False):
        last = min(len(text), next_start, head.end() + _MAX_WHY)
        newline = text.find("\n", head.end(), last)
        stop = newline if newline >= 0 else last
        why = text[head.end() : stop]
        end = _END.search(why)
        lines.setdefault(_key(head["pod"], namespaces), []).append(
            f"{head[0]}{(why[: end.start()] if end is not None else why).strip(' ;|')}"
        )
    refused = {(match["group"], match["pod"]): line for line in itertools.chain(*lines.values()) if (match := _REFUSED.search(line))}
    for cached in itertools.islice(_CACHED.finditer(text), _MAX_PODS):
        # The log names no pod whose result it is, so only the one result about the group will do.
        of_group = {other: line for (group, other), line in refused.items() if group == cached["group"]}
        if len(of_group) == 1 and cached["pod"] not in of_group:
            [(other, line)] = of_group.items()
            lines.setdefault(_key(cached["pod"], namespaces), []).append(line.replace(f"Pod {other} ", f"Pod {cached['pod']} ", 1))
    groups = list(dict.fromkeys(found[0] for found in _GROUP.finditer(text)))
    if groups:
        for found in _UNSCHEDULABLE.finditer(text):
            lines.setdefault(found["pod"], [])
    if groups and not lines:
        lines[""] = []
    if not groups and not lines and NO_OPTIONS in text:
        # It gives no reason for any node group.
        lines = {found["pod"]: [NO_OPTIONS] for found in _UNSCHEDULABLE.finditer(text)} or {"": [NO_OPTIONS]}
    if lines and (resized := list(_RESIZED.finditer(text))):
        # It is for these pods or for others; the log does not say which.
        groups.append(resized[-1][0])
    for pod, said in list(lines.items())[:_MAX_PODS]:
        yield PodMessage(pod, BETWEEN_LINES.join(list(dict.fromkeys((*said, *groups)))[:_MAX_LINES]))


def _key(pod: str, namespaces: Mapping[str, str]) -> str:
    """`namespace/name` of a pod that the log may name without its namespace."""
    return pod if "/" in pod else f"{namespaces.get(pod, 'default')}/{pod}"


def _namespaces(text: str) -> dict[str, str]:
    """The namespaces of pods that the text also names with them, if each has one."""
    found: dict[str, set[str]] = {}
    keys = [match["pod"] for match in _UNSCHEDULABLE.finditer(text)]
    keys += [match["key"] or f"{match['namespace']}/{match['name']}" for match in _NAMESPACED.finditer(text)]
    for key in keys:
        namespace, _, name = key.partition("/")
        found.setdefault(name, set()).add(namespace)
    return {name: next(iter(namespaces)) for name, namespaces in found.items() if len(namespaces) == 1}


def joined_pods(messages: Iterable[PodMessage]) -> list[PodMessage]:
    """The messages; where an autoscaler names the only pod of a text, those that name none are about it, too."""
    messages = list(messages)
    if not any(_OF_AUTOSCALER.match(each.message) for each in messages):
        return messages
    # A log without namespaces may be about the pod that an event names with its namespace.
    by_name: dict[str, set[str]] = {}
    for each in messages:
        by_name.setdefault(each.pod.partition("/")[2], set()).add(each.pod)
    whole = {
        f"default/{name}": next(iter(keys - {f"default/{name}"}))
        for name, keys in by_name.items()
        if name and f"default/{name}" in keys and len(keys) == len(("", "default"))
    }
    messages = [msgspec.structs.replace(each, pod=whole.get(each.pod, each.pod)) for each in messages]
    named = {each.pod for each in messages if each.pod}
    if len(named) != 1:
        return messages
    [only] = named
    return [each if each.pod else msgspec.structs.replace(each, pod=only) for each in messages]


def with_logged_pod(messages: Iterable[PodMessage], text: str) -> list[PodMessage]:
    """The messages; if none names a pod, and Karpenter's log in the text lists the same single pod each time, they are about that pod."""
    messages = list(messages)
    if not messages or any(each.pod for each in messages):
        return messages
    listed = {found["pods"] for found in _PROVISIONABLE.finditer(text)}
    if len(listed) != 1 or "/" not in (pod := next(iter(listed))) or "," in pod:
        return messages
    return [msgspec.structs.replace(each, pod=pod) for each in messages]
