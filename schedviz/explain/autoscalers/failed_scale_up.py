"""`explained_failure`: why the cloud gave the cluster autoscaler no node, by its event about the pod."""

from __future__ import annotations

import re
from typing import Final

from schedviz.trace.phrase import Phrase, phrase

_FAILED: Final = re.compile(
    # Words of people may follow.
    r"node scale up in zones (?:(?P<zones>[^\n]{1,300}?) )?associated with this pod failed: (?P<why>.+?)\.?(?: pod is at risk of not being "
    r"scheduled\b.*)?",
    re.IGNORECASE,
)
#: Words of the cloud's error, and what to do.
_ADVICE: Final[tuple[tuple[str, Phrase], ...]] = (
    ("quota", phrase("Raise the quota of the cloud project for these machines, or allow other zones or machine types")),
    (
        "out of resources",
        phrase("Allow other zones or machine types: the cloud has none of these machines left there now. The autoscaler retries by itself"),
    ),
    ("ip space", phrase("Extend the IP ranges for nodes and pods in the cluster's subnet, or add a node pool with another pod range")),
)
_ANY: Final = phrase("Check the errors of the node group in the cloud console. On GKE, read the autoscaler visibility events")


def is_failure(message: str) -> bool:
    """Whether it says that a scale-up failed."""
    return _FAILED.fullmatch(message) is not None


def explained_failure(message: str) -> tuple[Phrase, Phrase] | None:
    """What happened, without a full stop, and what to do; None for another text."""
    found = _FAILED.fullmatch(message)
    if found is None:
        return None
    said = phrase("the cluster autoscaler could not add a node ({why})", why=found["why"])
    if found["zones"]:
        said = phrase("the cluster autoscaler could not add a node in {zones} ({why})", zones=found["zones"], why=found["why"])
    return said, next((advice for words, advice in _ADVICE if words in found["why"].lower()), _ANY)
