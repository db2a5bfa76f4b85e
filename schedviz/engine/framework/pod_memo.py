"""What is asked of every pod on a node, remembered for each pod.

A row is computed again when one pod came to its node or left it, and the others say what they said before. To look 40 answers up takes
2 µs; to match 40 pods against a selector takes 40.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from schedviz.engine.framework.types import PodInfo

Answer = TypeVar("Answer")

#: So few pods are asked again.
_FEW: Final = 4
#: So many answers are kept: a few crowded nodes, which are those that are looked at again and again.
_KEPT: Final = 1024


class OfPods(Generic[Answer]):
    """Answers to one question, which must depend on the PodInfo alone and never be None."""

    __slots__ = ("_ask", "_known")

    def __init__(self, ask: Callable[[PodInfo], Answer]) -> None:
        self._ask = ask
        self._known: dict[PodInfo, Answer] = {}

    def __call__(self, pods: Sequence[PodInfo]) -> Sequence[Answer]:
        """The answers of these pods, in their order."""
        if len(pods) <= _FEW:
            return [self._ask(pod) for pod in pods]
        answers = list(map(self._known.get, pods))
        if None in answers:
            if len(self._known) > _KEPT:
                self._known.clear()
            for place, pod in enumerate(pods):
                if answers[place] is None:
                    answers[place] = self._known[pod] = self._ask(pod)
        return answers  # type: ignore[return-value]  # none of them is None any more
