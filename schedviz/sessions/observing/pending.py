"""`PendingPods`: the pending pods of a followed cluster, and which of them its scheduler has probably already decided on.

The API server does not show when a scheduler decides. But activeQ is ordered by priority and then by time of arrival, a rejected pod gets a
condition, and a nominated one a node. So the pods that precede a bound pod in that order, and have no such condition, were decided before
it: their bindings are in flight.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from schedviz.kube.claims import claim_name
from schedviz.kube.core import Pod

#: Where the conditions of a pod imply that it waits.
Place = Literal["active", "unschedulable", "nominated", "gated"]

#: Rank in activeQ: the smallest is popped first. Upstream: queuesort/priority_sort.go Less
Rank = tuple[int, int]
_SCHEDULED: Final = "PodScheduled"


class Waiting(msgspec.Struct):
    """A pod that waits."""

    rank: Rank
    #: The number of moves before the pod arrived, or before it was last rejected; None: it existed before the first.
    arrived_after_move: int | None
    place: Place
    #: Whether it waits for something that takes long, such as a volume, so that other pods no longer wait for it.
    is_passed: bool = False


class PendingPods:
    """Pods by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, Waiting] = {}
        #: The ranks in activeQ of pods that are to be decided, in order, with their uids.
        self._active: list[tuple[Rank, str]] = []
        #: How many pods have arrived, each when it entered activeQ.
        self._count = 0
        #: The pods that have persistent volume claims, by uid.
        self._with_claims: dict[str, Pod] = {}

    def add(self, pod: Pod, *, after_move: int | None, gated: bool = False) -> Place | None:
        """Add a pending pod, or update it after its conditions have changed. Returns its place if that has changed; None for a new pod in
        activeQ.

        `after_move`: see `Waiting.arrived_after_move`. `gated`: a PreEnqueue plugin keeps it out of activeQ.
        """
        if any(claim_name(pod, volume) for volume in pod.spec.volumes):
            self._with_claims[pod.uid] = pod
        waiting = self._pods.get(pod.uid)
        place = "gated" if gated else place_of(pod)
        if waiting is None:
            self._count += 1
            waiting = self._pods[pod.uid] = Waiting(self._rank(pod), after_move, place)
            if place == "active":
                insort(self._active, (waiting.rank, pod.uid))
                return None
            return place
        if place != waiting.place:
            self._leave_active(pod.uid, waiting)
            if waiting.place == "gated" and place == "active":
                # It enters activeQ now.
                self._count += 1
                waiting.rank = self._rank(pod)
                insort(self._active, (waiting.rank, pod.uid))
            waiting.place = place
            # Only what happens from now on can lead to another attempt.
            waiting.arrived_after_move = after_move
            return place
        return None

    def remove(self, uid: str) -> Waiting | None:
        """Remove a pod that no longer waits. None: it did not wait."""
        self._with_claims.pop(uid, None)
        waiting = self._pods.pop(uid, None)
        if waiting is not None:
            self._leave_active(uid, waiting)
        return waiting

    def ahead_of(self, rank: Rank) -> set[str]:
        """The uids of the pods that were decided before the one of this rank."""
        return {uid for _, uid in self._active[: bisect_left(self._active, (rank, ""))]}

    def pass_by(self, uids: Iterable[str]) -> None:
        """Stop other pods from waiting for these."""
        for uid in uids:
            if (waiting := self._pods.get(uid)) is not None:
                self._leave_active(uid, waiting)
                waiting.is_passed = True

    def is_to_be_decided(self, uid: str) -> bool:
        """Whether the pod is in activeQ, as far as is known."""
        waiting = self._pods.get(uid)
        return waiting is not None and waiting.place == "active" and not waiting.is_passed

    @property
    def may_bind_claims(self) -> list[Pod]:
        """The pods with persistent volume claims that a scheduler may be binding: its last attempt, if any, did not fail."""
        return [pod for uid, pod in self._with_claims.items() if self._pods[uid].place in ("active", "nominated")]

    @property
    def has_rejected(self) -> bool:
        """Whether rejected pods wait, which are tried again at unknown times."""
        return any(known.place in ("unschedulable", "nominated") for known in self._pods.values())

    @property
    def latest(self) -> int:
        """The place in the order of arrival of the newest pod."""
        return self._count

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def __len__(self) -> int:
        return len(self._pods)

    def _rank(self, pod: Pod) -> Rank:
        return -(pod.spec.priority or 0), self._count

    def _leave_active(self, uid: str, waiting: Waiting) -> None:
        if waiting.place == "active" and not waiting.is_passed:
            index = bisect_left(self._active, (waiting.rank, uid))
            if index < len(self._active) and self._active[index][1] == uid:
                del self._active[index]


def place_of(pod: Pod) -> Place:
    """The queue in which the pod waits in the real scheduler, as its conditions imply. They do not show whether it backs off or
    was requeued.
    """
    if pod.spec.scheduling_gates:
        return "gated"
    if pod.status.nominated_node_name:
        return "nominated"
    rejected = any(condition.type == _SCHEDULED and condition.status == "False" for condition in pod.status.conditions)
    return "unschedulable" if rejected else "active"


def is_waiting(pod: Pod) -> bool:
    """Whether the pod waits for a scheduler, gated ones included."""
    return not (pod.spec.node_name or pod.metadata.deletion_timestamp or pod.is_finished)
