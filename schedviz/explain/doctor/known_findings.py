"""`KnownFindings`: what the doctor found in a session's files.

The explanation of a pod looks it up, so that the two never contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedviz.explain.doctor.differences import Examination
from schedviz.explain.doctor.nominations import FOR_EVER, NOMINATED, WITHOUT_PREEMPTION
from schedviz.explain.explanation import Explanation
from schedviz.explain.finding import Finding

MISSED_POD = "missed pod"
#: A node that only one side has makes "this node can take the pod" doubtful.
_DOUBTFUL_NODE = frozenset({"missed node", "redundant node", "ghost node", "allocatable", "requested"})


class KnownFindings:
    """The findings of some examinations, by the object that they are about."""

    def __init__(self, examinations: Iterable[Examination] = ()) -> None:
        self._about: dict[str, list[Finding]] = {}
        for examination in examinations:
            for finding in examination.findings:
                self._about.setdefault(finding.about, []).append(finding)

    def is_unknown(self, pod: str) -> bool:
        """Whether the scheduler has the pending pod `namespace/name` neither in its cache nor in its queue."""
        return any(finding.kind == MISSED_POD for finding in self._about.get(f"Pod {pod}", ()))

    def about(self, explanation: Explanation, claims: Iterable[str] = ()) -> tuple[Finding, ...]:
        """The findings about the pod, its claims (`namespace/name`), the whole cluster, and the nodes that could take the pod."""
        if not self._about:
            return ()
        nodes = (finding for node in explanation.fits for finding in self._about.get(f"Node {node}", ()) if _is_doubtful(finding))
        # The explanation itself judges the nomination, in the current state.
        pod = (
            finding
            for finding in self._about.get(f"Pod {explanation.pod}", ())
            if finding.kind not in (FOR_EVER, NOMINATED, WITHOUT_PREEMPTION)
        )
        of_claims = (finding for claim in claims for finding in self._about.get(f"PersistentVolumeClaim {claim}", ()))
        return (*pod, *of_claims, *self._about.get("Cluster", ()), *nodes)


def unknown_nodes(findings: Sequence[Finding]) -> list[str]:
    """The names of the nodes that the scheduler does not know."""
    return [finding.about.partition(" ")[2] for finding in findings if finding.kind == "missed node"]


def _is_doubtful(finding: Finding) -> bool:
    return finding.differs and finding.kind in _DOUBTFUL_NODE
