"""`explained_daemon_set_pod`: that the cluster autoscaler adds no node for the pod of a DaemonSet, by its log."""

from __future__ import annotations

import re
from typing import Final

from schedviz.trace.phrase import Phrase, phrase

_LEFT_OUT: Final = re.compile(r"failed to find place for \S+: [^|]+\| Filtered out \d+ daemon set pods.*")


def explained_daemon_set_pod(message: str) -> tuple[Phrase, Phrase] | None:
    """What happened, without a full stop, and what to do; None for another text."""
    if _LEFT_OUT.fullmatch(message) is None:
        return None
    return _SAID, _ADVICE


_SAID: Final = phrase(
    "the cluster autoscaler adds no node for this pod: it belongs to a DaemonSet, so it can only run on the one node that it is meant for, "
    "and that node has no room for it"
)
_ADVICE: Final = phrase(
    "Free up capacity on that node, or give the DaemonSet a priority class above that of other pods, so that its pods can preempt them"
)
