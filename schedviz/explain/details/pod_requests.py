"""`with_requests`: the clauses of a scheduler's message about a pod whose nodes are not known, with what the pod itself requests."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.details.node_labels import node_requirements
from schedviz.explain.explanation import Clause
from schedviz.explain.mistyped import mistyped_toleration, printed_toleration
from schedviz.explain.reason_tables.nodes import ADDING_NODE
from schedviz.explain.resource_names import amount_of
from schedviz.trace.phrase import Phrase, joined, phrase, some

_INSUFFICIENT: Final = "Insufficient "
#: Part of the reason of nodes that PreFilter excludes, such as all but one of them for a pod of a DaemonSet.
_BEFORE_FILTERS: Final = "didn't satisfy plugin"
#: In the headline of taints that a pod may be given a toleration for: nodes of the control plane and unhealthy ones have others.
_UNTOLERATED: Final = "the pod does not tolerate"
#: The headlines of too few devices for a pod that requests one.
_NONE_FREE: Final = {
    "{nodes} does not have enough free `{resource}`": "{nodes} has no free `{resource}`",
    "{nodes} do not have enough free `{resource}`": "{nodes} have no free `{resource}`",
    "{nodes} has enough free `{resource}`": "{nodes} has a free `{resource}`",
}
#: Taints that the API server lets every pod tolerate for a while.
_OF_EVERY_POD: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")

#: What to do about a host port for which no other node would help.
_OF_DAEMON_SET: Final = phrase(
    "a pod of a DaemonSet belongs to one node. Find the pod that uses the port there: `kubectl get pods -A -o "
    "'custom-columns=NODE:.spec.nodeName,POD:.metadata.name,PORT:.spec.containers[*].ports[*].hostPort'`. Move that pod, or change one of "
    "the ports"
)


def with_requests(clauses: Iterable[Clause], pod: PodInfo) -> tuple[Clause, ...]:
    """The same clauses; their headlines name the node labels and the amounts that the pod requests, and what it tolerates.

    What is probably a typo of the pod comes first.
    """
    with_typo = [(_with_typo(clause, pod), clause) for clause in clauses]
    mistyped = [typo for typo, _ in with_typo if typo is not None]
    counting = [clause for _, clause in with_typo if clause.count]
    is_of_all = all(clause.plugin == names.NODE_AFFINITY for clause in counting)
    asked = [_with_requests(clause, pod, is_of_all=is_of_all) for typo, clause in with_typo if typo is None]
    return (*mistyped, *_with_size(asked, pod))


def _with_size(clauses: Sequence[Clause], pod: PodInfo) -> list[Clause]:
    """The clauses; those that advise to add a node say how much it must have free of all that nodes have too little of."""
    lacking = list(dict.fromkeys(clause.reason.removeprefix(_INSUFFICIENT) for clause in clauses if _adds_node(clause)))
    amounts = [amount_of(resource, requested) for resource in lacking if (requested := amount(pod, resource))]
    if not amounts or len(amounts) < len(lacking):
        return list(clauses)
    where = phrase(" with at least {amounts} free", amounts=joined(amounts, "{first} and {next}"))
    return [_placed(clause, where) if _adds_node(clause) else clause for clause in clauses]


def _adds_node(clause: Clause) -> bool:
    advice = clause.advice_phrase
    return clause.reason.startswith(_INSUFFICIENT) and advice is not None and advice.template in ADDING_NODE and not advice.values["where"]


def _placed(clause: Clause, where: Phrase) -> Clause:
    advice = clause.advice_phrase
    assert advice is not None
    advice = Phrase(advice.template, {**advice.values, "where": where})
    return clause.with_phrases(advice=advice)


def _with_typo(clause: Clause, pod: PodInfo) -> Clause | None:
    """The clause of a taint that the pod was probably meant to tolerate; None if it is another one."""
    headline = clause.headline_phrase
    if headline is None or clause.plugin != names.TAINT_TOLERATION or _UNTOLERATED not in headline.template:
        return None
    taint = str(headline.values.get("taint", ""))
    key, _, value = taint.partition("=")
    toleration = mistyped_toleration(pod.pod.spec.tolerations, key, value) if taint else None
    if toleration is None:
        return None
    mistyped = printed_toleration(toleration)
    said = phrase("{headline}; its toleration `{mistyped}` is probably a typo", headline=headline, mistyped=mistyped)
    advice = phrase("change the pod's toleration from `{mistyped}` to `{taint}`", taint=taint, mistyped=mistyped)
    return msgspec.structs.replace(clause, is_aside=False).with_phrases(headline=said, advice=advice)


def _with_requests(clause: Clause, pod: PodInfo, *, is_of_all: bool) -> Clause:
    if clause.headline_phrase is None or (asked := _asked(clause, clause.headline_phrase, pod)) is None:
        return clause
    clause = clause.with_phrases(headline=asked)
    advice = None
    if clause.plugin == names.NODE_AFFINITY and _BEFORE_FILTERS not in clause.reason:
        advice = _advice(pod, is_of_all=is_of_all)
    elif clause.plugin == names.NODE_PORTS and pod.pod.is_of_daemon_set:
        advice = _OF_DAEMON_SET
    return clause if advice is None else clause.with_phrases(advice=advice)


def _asked(clause: Clause, headline: Phrase, pod: PodInfo) -> Phrase | None:
    if clause.plugin == names.NODE_PORTS and (ports := _host_ports(pod)):
        if len(ports) > 1:
            return phrase("{headline} (one of {ports})", headline=headline, ports=some([f"`{port}`" for port in ports]))
        return phrase("{headline} ({ports})", headline=headline, ports=some([f"`{port}`" for port in ports]))
    if clause.plugin == names.NODE_AFFINITY:
        requirements = node_requirements(pod.pod)
        if not requirements or _BEFORE_FILTERS in clause.reason:
            return None
        return phrase("{headline} ({requirements})", headline=headline, requirements=", ".join(f"`{each}`" for each in requirements))
    if clause.plugin == names.TAINT_TOLERATION and _UNTOLERATED in headline.template and (tolerated := _tolerated(pod)):
        return phrase("{headline}; the pod tolerates {taints}", headline=headline, taints=some([f"`{taint}`" for taint in tolerated]))
    resource = clause.reason.removeprefix(_INSUFFICIENT)
    if resource == clause.reason or not (requested := amount(pod, resource)):
        return None
    if "/" in resource:
        # The headline names the resource.
        none_free = Phrase(_NONE_FREE.get(headline.template, headline.template), headline.values)
        return phrase("{headline}; the pod requests {requested}", headline=none_free if requested == 1 else headline, requested=requested)
    return phrase("{headline}; the pod requests {requested}", headline=headline, requested=amount_of(resource, requested))


def _host_ports(pod: PodInfo) -> list[str]:
    """The host ports that the pod asks for."""
    return list(dict.fromkeys(str(port.port) for port in pod.host_ports))


def _tolerated(pod: PodInfo) -> list[str]:
    """The taints that the pod tolerates by their keys, without those that every pod does."""
    own = (each for each in pod.pod.spec.tolerations if each.key and not each.key.startswith(_OF_EVERY_POD))
    return list(dict.fromkeys(map(printed_toleration, own)))


def _advice(pod: PodInfo, *, is_of_all: bool) -> Phrase | None:
    """How to list the nodes that the pod asks for; None for alternatives, and for operators that kubectl's selectors lack.

    `is_of_all`: no node was rejected for another reason.
    """
    requirements = node_requirements(pod.pod)
    if not requirements or any(each.operator in ("gt", "lt") for each in requirements):
        return None
    command = shlex.join(("kubectl", "get", "nodes", "-l", ",".join(map(str, requirements))))
    if "`" in command:
        return None
    if is_of_all:
        # A taint is checked before the labels, so a node that has them was rejected for the pod's node affinity.
        return phrase(
            (
                "list the matching nodes with `{command}`. If it lists none, correct the selector, label a node, or add one. "
                "If it lists some, check the pod's `affinity.nodeAffinity`, which `kubectl describe pod` does not show"
            ),
            command=command,
        )
    return phrase(
        (
            "list the matching nodes with `{command}`. If it lists none, correct the selector, label a node, or add one. "
            "If it lists some, compare their taints with the pod's tolerations"
        ),
        command=command,
    )
