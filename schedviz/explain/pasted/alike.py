"""`pods_alike`: the pods of a text about which it says the same, so that one card is about all of them, as on the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.explain.messages.parsed_message import ParsedMessage, newest_of_each_source
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.kube.pod_status import GENERATED_SUFFIX

_OF_REPLICA_SET: Final = re.compile(rf"-{GENERATED_SUFFIX}$")
#: Names with digits in what an autoscaler says, which differ from pod to pod.
_NAME: Final = re.compile(r"[\w.-]*\d[\w.-]*", re.ASCII)


def pods_alike(pod: str, messages: Sequence[ParsedMessage], answers: Sequence[PodAnswer], age: Callable[[str], float]) -> list[str]:
    """The pod, and those whose newest messages are the same, or have the same reasons if they are of the same ReplicaSet."""
    if not pod:
        return []
    by_pod: dict[str, list[ParsedMessage]] = {}
    for message in messages:
        by_pod.setdefault(message.pod, []).append(message)
    standings = {answer.pod: (answer.standing, answer.sentence_phrase.template if answer.sentence_phrase else "") for answer in answers}
    newest = {name: newest_of_each_source(of_pod, age) for name, of_pod in by_pod.items() if name}
    if pod not in newest:
        return []
    return [pod] + [
        name
        for name, said in newest.items()
        if name != pod
        and standings.get(name) == standings.get(pod)
        and (_texts(said) == _texts(newest[pod]) or (_owner(name) == _owner(pod) != "" and _reasons(said) == _reasons(newest[pod])))
    ]


def _texts(newest: Sequence[ParsedMessage]) -> list[tuple[str, str]]:
    return [(each.writer, each.text) for each in newest]


def _owner(pod: str) -> str:
    """`namespace/name` of the ReplicaSet whose pod this is by its name; "": it is none."""
    return _OF_REPLICA_SET.sub("", pod) if _OF_REPLICA_SET.search(pod) else ""


def _reasons(newest: Sequence[ParsedMessage]) -> list[tuple[str, list[str]]]:
    return [
        (each.writer, sorted({_NAME.sub("#", clause.reason) if each.writer else clause.reason for clause in each.message.clauses}))
        for each in newest
    ]
