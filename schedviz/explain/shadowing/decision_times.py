"""When a real scheduler placed pods and saw them go, from its log or its events: evidence of the order of its decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

import msgspec

from schedviz.kube.core import Pod

#: Times are kept for this long, by the scheduler's clock.
_KEPT_MICROSECONDS: Final = 120_000_000
#: The most pods of which times are kept, and times of one of them. Additions and removals count apart.
_MAX_PODS: Final = 20_000
_MAX_OF_A_POD: Final = 50
_LATEST: Final = (1 << 53) - 1

_Text = Annotated[str, msgspec.Meta(max_length=512)]
_Microseconds = Annotated[int, msgspec.Meta(ge=0, le=_LATEST)]


class DecisionTime(msgspec.Struct, frozen=True, omit_defaults=True):
    """The time at which a real scheduler placed a pod on a node in its own cache, or removed it, in microseconds since 1970 by its clock.

    It happened after `after` and before `before`; 0: not known.
    """

    #: `namespace/name`.
    pod: _Text
    move: Literal["added", "removed"]
    after: _Microseconds = 0
    before: _Microseconds = 0
    #: Where it was placed; "": not known.
    node: _Text = ""
    #: "": not known.
    uid: _Text = ""
    #: Whether `after` is the beginning of the scheduling cycle, and each cycle of the scheduler is known. Cycles do not overlap.
    exact: bool = False

    def is_before(self, other: DecisionTime) -> bool:
        """Whether this certainly happened before the other one."""
        if self.exact and other.exact and self.move == other.move == "added":
            return self.after < other.after
        return 0 < self.before <= other.after


class DecisionTimes:
    """Times by pod."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, bool], list[DecisionTime]] = {}
        self._latest = 0

    def add(self, times: Iterable[DecisionTime]) -> None:
        """Add times, and forget old ones."""
        for one in times:
            of_pod = self._times.setdefault((one.pod, one.move == "added"), [])
            of_pod.append(one)
            del of_pod[:-_MAX_OF_A_POD]
            self._latest = max(self._latest, one.before, one.after)
        oldest = self._latest - _KEPT_MICROSECONDS
        for key, kept in list(self._times.items()):
            if all(max(one.after, one.before) < oldest for one in kept):
                del self._times[key]
        for key in list(self._times)[:-_MAX_PODS]:
            del self._times[key]

    def __len__(self) -> int:
        return sum(map(len, self._times.values()))

    def placement_before(self, pod: Pod, other: DecisionTime) -> tuple[DecisionTime, DecisionTime | None] | None:
        """The last time before `other` at which a pod was placed, and when it was removed again (None: not known to be).

        A pod whose binding fails is placed several times.
        """
        placed = [one for one in self._times.get((pod.key, True), ()) if one.is_before(other)]
        if not placed:
            return None
        last = max(placed, key=lambda one: one.after)
        removed = [one for one in self._times.get((pod.key, False), ()) if one.after >= last.before]
        return last, min(removed, key=lambda one: one.after, default=None)

    def find(self, pod: Pod, *, is_added: bool) -> DecisionTime | None:
        """The time for a pod; None if it is not known, or if there are several because a pod of this name came again."""
        found = [one for one in self._times.get((pod.key, is_added), ()) if not one.uid or one.uid == pod.uid]
        return found[0] if len(found) == 1 else None
