"""What holds a pod with scheduling gates, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.trace.phrase import Phrase, phrase, some

_OPEN_GATES: Final = phrase(
    "find the controller that set the gates; it removes them once the pod may start, for example when a job queue admits the pod"
)
#: In the names of the gates that the job queue Kueue sets.
_OF_KUEUE: Final = "kueue.x-k8s.io/"


def held_by(gates: Sequence[str]) -> Phrase:
    """That the gates hold a pod, as a sentence."""
    named = some([f"`{gate}`" for gate in gates])
    if any(_OF_KUEUE in gate for gate in gates):
        return phrase(
            "Kueue holds the pod with the scheduling gate {gates}: the scheduler tries it once Kueue has admitted its workload.",
            gates=named,
        )
    if len(gates) == 1:
        return phrase("The scheduling gate {gates} holds the pod: the scheduler does not try it until the gate is removed.", gates=named)
    return phrase("The scheduling gates {gates} hold the pod: the scheduler does not try it until all of them are removed.", gates=named)


def advice_about_gates(gates: str, namespace: str) -> Phrase:
    """What to do about gates."""
    if _OF_KUEUE not in gates:
        return _OPEN_GATES
    return phrase("find out why Kueue has not admitted it: `kubectl describe workloads.kueue.x-k8s.io -n {namespace}`", namespace=namespace)
