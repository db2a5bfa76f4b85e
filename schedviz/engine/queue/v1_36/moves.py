"""`Moves`: the pods that enter, leave or change queues during one change, for one trace event."""

from __future__ import annotations

from collections.abc import Callable

from schedviz.engine.framework.types import QueuedPodInfo
from schedviz.trace.events import QueueMove, QueueName
from schedviz.trace.view import QueuedPod


class Moves:
    """Collects where pods left and entered. A pod that left one queue and entered another is one move."""

    def __init__(self, entry: Callable[[QueuedPodInfo], QueuedPod]) -> None:
        """`entry` returns a pod as a view shows it."""
        self._entry = entry
        self._moves: list[QueueMove | None] = []
        #: Key -> the index of its departure among the moves, its queue, whether it was popped off the heap, and how it was before.
        self._left: dict[str, tuple[int, QueueName, bool, QueuedPod]] = {}
        self._deferred: list[Callable[[], object]] = []

    def left(
        self, queued: QueuedPodInfo, source: QueueName, *, popped: bool = False, before: QueuedPod | None = None, may_leave: bool = False
    ) -> None:
        """A pod left a queue.

        `popped`: it was taken off the root of the heap (container/heap's Pop), for a cycle or by a flush. `before`: how it was, if it has
        changed since. `may_leave`: it is still there, and becomes a move only if it enters another
        queue, or the same one changed (`entered`).
        """
        key = queued.key
        move = self._left.get(key)
        if move is not None and move[1] == source:
            return
        self._left[key] = (len(self._moves), source, popped, self._entry(queued) if before is None else before)
        self._moves.append(None if may_leave else QueueMove(pod=key, source=source, popped=popped))

    def entered(self, queued: QueuedPodInfo, target: QueueName) -> None:
        """A pod entered a queue, or changed in the one that it had not left."""
        key = queued.key
        entry = self._entry(queued)
        move = self._left.pop(key, None)
        if move is None:
            self._moves.append(QueueMove(pod=key, target=target, entry=entry))
            return
        index, source, popped, before = move
        is_unchanged = entry == before
        if source == target and is_unchanged:
            self._moves[index] = None
            return
        self._moves[index] = QueueMove(
            pod=key, source=source, target=target, popped=popped and source != target, entry=None if is_unchanged else entry
        )

    def changed(self, queued: QueuedPodInfo, name: QueueName, before: QueuedPod) -> None:
        """A pod changed in its queue."""
        self._left.pop(queued.key, None)
        entry = self._entry(queued)
        if entry != before:
            self._moves.append(QueueMove(pod=queued.key, source=name, target=name, entry=entry))

    def defer(self, act: Callable[[], object]) -> None:
        """Run this once the moves were recorded."""
        self._deferred.append(act)

    def made(self) -> list[QueueMove]:
        """The moves, in order."""
        return [move for move in self._moves if move is not None]

    def run_deferred(self) -> None:
        """Run what was deferred."""
        for act in self._deferred:
            act()
