"""All pending pods, grouped by scheduling requirements: a thousand replicas give one answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schedviz.engine import Simulation
from schedviz.explain.equivalence import groups
from schedviz.explain.explanation import Clause, Outlook, Part, Standing
from schedviz.explain.why import why_pending
from schedviz.kube.core import Pod

#: Groups that are explained; others are only counted.
MOST_GROUPS: Final = 200


class PendingGroup(Part, frozen=True):
    """Pods that wait for the same reason."""

    #: `namespace/name`; the first was explained.
    pods: tuple[str, ...]
    standing: Standing
    sentence: str
    message: str
    outlook: Outlook
    clauses: tuple[Clause, ...]


def pending_groups(simulation: Simulation) -> list[PendingGroup]:
    """Groups that no node would take now, then those that only wait for their attempt; largest first. At most `MOST_GROUPS`."""
    pending = [pod for pod in _pods(simulation) if not pod.spec.node_name and pod.metadata.deletion_timestamp is None]
    found = sorted(groups(pending), key=len, reverse=True)[:MOST_GROUPS]
    return sorted((_told(simulation, pods) for pods in found), key=lambda group: group.outlook == "now")


def _pods(simulation: Simulation) -> Iterable[Pod]:
    return (obj for obj in simulation.stored_objects() if isinstance(obj, Pod) and obj.status.phase not in ("Succeeded", "Failed"))


def _told(simulation: Simulation, pods: list[Pod]) -> PendingGroup:
    explanation = why_pending(simulation, pods[0].key)
    return PendingGroup(
        tuple(pod.key for pod in pods),
        explanation.standing,
        explanation.sentence,
        explanation.message,
        explanation.outlook,
        explanation.clauses,
    )
