"""The meaning of the reasons in a FitError, and of the scheduler's other messages, with their usual causes and what to do."""

from __future__ import annotations

import re
from typing import Final

from schedviz.explain.meaning import Meaning, Row
from schedviz.explain.messages.reason_values import reason_values
from schedviz.explain.reason_tables.autoscalers import AUTOSCALERS
from schedviz.explain.reason_tables.creation import CREATION
from schedviz.explain.reason_tables.devices import DEVICES
from schedviz.explain.reason_tables.kubelet import OF_KUBELET
from schedviz.explain.reason_tables.nodes import NODES
from schedviz.explain.reason_tables.placement import PLACEMENT
from schedviz.explain.reason_tables.preemption import PREEMPTION
from schedviz.explain.reason_tables.queues import QUEUES
from schedviz.explain.reason_tables.rejections import REJECTIONS
from schedviz.explain.reason_tables.volumes import VOLUMES
from schedviz.explain.reason_tables.whole import WHOLE

TABLE: Final[tuple[Row, ...]] = (
    *QUEUES,
    *NODES,
    *PLACEMENT,
    *VOLUMES,
    *DEVICES,
    *PREEMPTION,
    *WHOLE,
    *AUTOSCALERS,
    *CREATION,
    *OF_KUBELET,
    *REJECTIONS,
)
#: For a reason that no table has.
UNKNOWN: Final = Meaning(
    "",
    "no default plugin of kube-scheduler 1.14 to 1.36 reports this reason",
    ("a custom plugin, an extender, or another scheduler reports it", "the text was truncated or retyped"),
    "search the configuration and the logs of your scheduler for these words",
)
#: Longer reasons are not examined: no scheduler writes them.
_MAX_LENGTH: Final = 2_000

#: Reasons that most messages have: a text that ends within one of them is cut off.
_USUAL: Final = (
    "Insufficient ",
    "Too many pods",
    "node(s) had untolerated taint {",
    "node(s) had untolerated taint(s)",
    "node(s) had taint {",
    "node(s) had taints that the pod didn't tolerate",
    "node(s) had volume node affinity conflict",
    "node(s) had no available volume zone",
    "node(s) were unschedulable",
    "node(s) were not ready",
    "node(s) exceed max volume count",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't match node selector",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't satisfy plugin",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "pod has unbound immediate PersistentVolumeClaims",
)
_COMPILED: Final = tuple((re.compile(pattern, re.IGNORECASE), meaning) for pattern, meaning in TABLE)


def meaning_of(reason: str) -> Meaning | None:
    """The meaning of a reason; None if no default plugin gives it."""
    if len(reason) > _MAX_LENGTH:
        return None
    for pattern, meaning in _COMPILED:
        match = pattern.fullmatch(reason)
        if match is not None:
            return meaning._replace(values=reason_values(match.groupdict()))
    return None


def begins_reason(text: str) -> bool:
    """Whether a text is only the beginning of a usual reason: of its words, or of a taint without the closing brace."""
    if not text or meaning_of(text) is not None:
        return False
    return any(reason.startswith(text) or (reason.endswith("{") and text.startswith(reason) and "}" not in text) for reason in _USUAL)


def general_advice(template: str) -> str:
    """The template of what to do about any nodes, for one that names nodes; another template as it is."""
    return next((meaning.advice for _, meaning in TABLE if template and meaning.of_named == template), template)
