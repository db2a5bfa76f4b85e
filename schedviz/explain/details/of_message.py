"""`with_requests`: the clauses of a scheduler's message about a pod whose nodes are not known, with what the pod itself requests."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final

import msgspec

from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.details.node_labels import node_requirements
from schedviz.explain.explanation import Clause
from schedviz.kube.printed_amount import printed_amount
from schedviz.trace.phrase import Phrase, phrase, some

_INSUFFICIENT: Final = "Insufficient "
#: In the reason of nodes that a DaemonSet's pod is not for, whatever else it asks for.
_BEFORE_FILTERS: Final = "didn't satisfy plugin"
#: Taints that the API server lets every pod tolerate for a while.
_OF_EVERY_POD: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def with_requests(clauses: Iterable[Clause], pod: PodInfo) -> tuple[Clause, ...]:
    """The same clauses; their headlines name the node labels and the amounts that the pod requests, and what it tolerates."""
    return tuple(_with_requests(clause, pod) for clause in clauses)


def _with_requests(clause: Clause, pod: PodInfo) -> Clause:
    if clause.headline_phrase is None or (asked := _asked(clause, clause.headline_phrase, pod)) is None:
        return clause
    clause = msgspec.structs.replace(clause, headline=asked.text, headline_phrase=asked)
    advice = _advice(pod) if clause.plugin == names.NODE_AFFINITY and _BEFORE_FILTERS not in clause.reason else None
    return clause if advice is None else msgspec.structs.replace(clause, advice=advice.text, advice_phrase=advice)


def _asked(clause: Clause, headline: Phrase, pod: PodInfo) -> Phrase | None:
    if clause.plugin == names.NODE_PORTS and (ports := _host_ports(pod)):
        return phrase("{headline}: {ports}", headline=headline, ports=some(ports))
    if clause.plugin == names.NODE_AFFINITY:
        requirements = node_requirements(pod.pod)
        if not requirements or _BEFORE_FILTERS in clause.reason:
            return None
        return phrase("{headline}: {requirements}", headline=headline, requirements=", ".join(map(str, requirements)))
    if clause.plugin == names.TAINT_TOLERATION and (tolerated := _tolerated(pod)):
        return phrase("{headline}: it tolerates {taints}", headline=headline, taints=some(tolerated))
    resource = clause.reason.removeprefix(_INSUFFICIENT)
    if resource == clause.reason or not (requested := amount(pod, resource)):
        return None
    return phrase("{headline}: the pod requests {requested}", headline=headline, requested=printed_amount(resource, requested))


def _host_ports(pod: PodInfo) -> list[str]:
    """The host ports that the pod asks for."""
    containers = pod.pod.spec.containers
    return list(dict.fromkeys(str(port.host_port) for container in containers for port in container.ports if port.host_port))


def _tolerated(pod: PodInfo) -> list[str]:
    """The taints that the pod tolerates, without those that every pod does."""
    own = (toleration for toleration in pod.pod.spec.tolerations if not toleration.key.startswith(_OF_EVERY_POD))
    return list(dict.fromkeys("=".join(filter(None, (toleration.key, toleration.value))) or "*" for toleration in own))


def _advice(pod: PodInfo) -> Phrase | None:
    """How to list the nodes that the pod asks for; None for alternatives, and for operators that kubectl's selectors lack."""
    requirements = node_requirements(pod.pod)
    if not requirements or any(each.operator in ("gt", "lt") for each in requirements):
        return None
    command = shlex.join(("kubectl", "get", "nodes", "-l", ",".join(map(str, requirements))))
    if "`" in command:
        return None
    return phrase(
        "list the nodes that the pod asks for: `{command}`. If there is none, correct the pod's selector, or label or add a node",
        command=command,
    )
