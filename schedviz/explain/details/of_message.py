"""`with_requests`: the clauses of a scheduler's message about a pod whose nodes are not known, with what the pod itself requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.details.node_labels import node_requirements
from schedviz.explain.explanation import Clause
from schedviz.kube.printed_amount import printed_amount
from schedviz.trace.phrase import Phrase, phrase

_INSUFFICIENT: Final = "Insufficient "


def with_requests(clauses: Iterable[Clause], pod: PodInfo) -> tuple[Clause, ...]:
    """The same clauses; their headlines name the node labels and the amounts that the pod requests."""
    return tuple(_with_requests(clause, pod) for clause in clauses)


def _with_requests(clause: Clause, pod: PodInfo) -> Clause:
    if clause.headline_phrase is None or (asked := _asked(clause, clause.headline_phrase, pod)) is None:
        return clause
    return msgspec.structs.replace(clause, headline=asked.text, headline_phrase=asked)


def _asked(clause: Clause, headline: Phrase, pod: PodInfo) -> Phrase | None:
    if clause.plugin == names.NODE_AFFINITY:
        requirements = node_requirements(pod.pod)
        if not requirements:
            return None
        return phrase("{headline}: {requirements}", headline=headline, requirements=", ".join(map(str, requirements)))
    resource = clause.reason.removeprefix(_INSUFFICIENT)
    if resource == clause.reason or not (requested := amount(pod, resource)):
        return None
    return phrase("{headline}: the pod requests {requested}", headline=headline, requested=printed_amount(resource, requested))
