"""When the cluster's scheduler decided, from the lines of its log or from its events: pushed with the changes, as evidence of the order."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

import msgspec

from schedviz.cli.follow.redaction import Redaction
from schedviz.explain.shadowing.decision_times import DecisionTime

#: How many decisions may wait to be pushed. Beyond that the oldest are dropped: bindings are then undecided.
_MAX_WAITING: Final = 20_000
#: The most decisions in one batch.
MAX_BATCH_DECISIONS: Final = 2000
#: The pods whose times are remembered.
_MAX_RECENT_PODS: Final = 20_000


class Decisions:
    """Decisions that wait to be pushed; safe for any number of threads."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._lock = threading.Lock()
        self._waiting: list[DecisionTime] = []

    def add(self, decision: DecisionTime) -> None:
        """Add a decision, with the pod's name as it is in the cluster. One with impossible names or times is left out: the server would
        refuse the whole batch.
        """
        try:
            msgspec.convert(msgspec.to_builtins(decision), DecisionTime)
        except msgspec.ValidationError:
            return
        namespace, _, name = decision.pod.rpartition("/")
        pod, node = self._redaction.names(namespace, name, decision.node)
        with self._lock:
            self._waiting.append(msgspec.structs.replace(decision, pod=pod, node=node))
            del self._waiting[:-_MAX_WAITING]

    def next_batch(self) -> list[DecisionTime]:
        """The oldest that wait, at most as many as a batch may have."""
        with self._lock:
            taken, self._waiting = self._waiting[:MAX_BATCH_DECISIONS], self._waiting[MAX_BATCH_DECISIONS:]
        return taken

    def __len__(self) -> int:
        return len(self._waiting)


class RecentTimes(OrderedDict[str, int]):
    """Times by pod; the oldest are forgotten."""

    def record(self, pod: str, at: int) -> None:
        """Keep the time for a pod."""
        self[pod] = at
        self.move_to_end(pod)
        if len(self) > _MAX_RECENT_PODS:
            self.popitem(last=False)
