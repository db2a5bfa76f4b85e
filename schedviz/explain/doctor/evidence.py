"""Evidence why one side lacks what the other has: the scheduler's own comparer, times, and earlier dumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from schedviz.engine.cache.debugger.signal import Signal
from schedviz.kube.core import Node, Pod
from schedviz.trace.phrase import Phrase, phrase

#: A binding that takes longer than this is stuck.
BINDING_SECONDS = 30.0


class Evidence:
    """The context of one dump."""

    def __init__(self, signal: Signal, earlier: Sequence[Signal] = ()) -> None:
        self.signal = signal
        self.earlier = earlier

    def why_missed(self, kind: Literal["node", "pod"], obj: Node | Pod) -> Phrase:
        """Why the scheduler does not have what the API has."""
        return self._by_comparer(
            kind,
            obj.name if kind == "node" else obj.uid,
            missed=True,
            handler=phrase(
                "the scheduler's informer has it (its comparer reports it), but the cache does not: an event handler failed or "
                "was not called"
            ),
            watch=phrase(
                "the scheduler's informer does not have it either (its comparer reports no difference): the watch "
                "event from the API server was lost or has not arrived yet"
            ),
            unknown=phrase("a watch event that the scheduler has not seen, or the objects were collected after the dump"),
        )

    def why_redundant(self, kind: Literal["node", "pod"], identity: str) -> Phrase:
        """Why the scheduler has what the API does not have; `identity` is a node's name or a pod's uid."""
        return self._by_comparer(
            kind,
            identity,
            missed=False,
            handler=phrase(
                "the scheduler's informer has seen the deletion (its comparer reports it), but the cache has not: an event "
                "handler failed or was not called"
            ),
            watch=phrase(
                "the scheduler's informer still has it too (its comparer reports no difference): the watch event of "
                "the deletion was lost or has not arrived yet"
            ),
            unknown=phrase("the watch event of its deletion was not seen, or it was deleted after the dump was made"),
        )

    def is_named(self, kind: Literal["node", "pod"], identity: str) -> bool:
        """Whether the scheduler's own comparer names the node or the pod: its cache differs from its informer."""
        mismatch = self.signal.mismatch
        if mismatch is None:
            return False
        if kind == "node":
            return identity in mismatch.missed_nodes or identity in mismatch.redundant_nodes
        return identity in mismatch.missed_pods or identity in mismatch.redundant_pods

    def _by_comparer(self, kind: str, identity: str, *, missed: bool, handler: Phrase, watch: Phrase, unknown: Phrase) -> Phrase:
        mismatch = self.signal.mismatch
        if mismatch is None:
            return unknown
        if missed:
            named = mismatch.missed_nodes if kind == "node" else mismatch.missed_pods
        else:
            named = mismatch.redundant_nodes if kind == "node" else mismatch.redundant_pods
        return handler if identity in named else watch

    def assumed_for(self, uid: str, node: str) -> float | None:
        """The minimum number of seconds for which a pod has been on a node of the cache, by earlier dumps; None if none of them has it."""
        if self.signal.seconds is None:
            return None
        for signal in self.earlier:
            if signal.seconds is None:
                continue
            if any(pod.uid == uid for dumped in signal.dump.nodes if dumped.name == node for pod in dumped.pods):
                return self.signal.seconds - signal.seconds
        return None


def advice_for(cause: Phrase) -> Phrase:
    """The remedy for a node or a pod that one side lacks."""
    if "event handler" in cause.text:
        return phrase(
            "restart the scheduler, which rebuilds its cache from its informers; then look for a panic of the event handler in its log"
        )
    if "after the dump" in cause.text:
        return phrase("collect the objects and the dump at the same time")
    if "informer" in cause.text:
        return advice_for_lost_watch()
    return phrase("collect the objects and the dump at the same time, and compare again")


def advice_for_lost_watch() -> Phrase:
    """The remedy for lost events."""
    return phrase(
        "make another dump; if nothing has changed, restart the scheduler, which lists all objects again, and check "
        "the API server's watch cache"
    )
