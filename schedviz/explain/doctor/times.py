"""`Times`: when a dump and the API's objects were taken, and what cannot be compared because it changed in between.

Neither file says when the other was made. The objects are not older than their newest timestamp, and not newer than a binding in the log of
a pod that waits in them. Deleted pods leave no time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from typing import Final, Literal, NamedTuple

from schedviz.engine.cache.debugger.signal import Signal
from schedviz.explain.doctor.differences import note
from schedviz.explain.finding import Finding
from schedviz.kube import timestamps
from schedviz.kube.core import Node, Pod
from schedviz.trace.phrase import Phrase, counted, phrase, some

NOT_COMPARED: Final = "not compared"
#: Changes within this time before the dump are not compared: clocks differ, watch events take time, and the API's times are whole seconds.
SLACK_SECONDS: Final = 10.0
#: The API's times are truncated to seconds.
_TRUNCATED: Final = 1.0
_KLOG: Final = re.compile(r"(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})", re.ASCII)
#: As many pods that were created or bound within this time of the dump make a busy cluster, where others may have been deleted.
_BUSY: Final = 3
_NEAR_SECONDS: Final = 60.0
#: Time zones differ by quarters of an hour.
_QUARTER: Final = 900
_TAKE_AGAIN: Final = phrase(
    "send SIGUSR2 before and after the objects are collected, and compare them with that log: what still differs then is wrong"
)


class Order(NamedTuple):
    """Which of dump and objects is newer, and how that is known."""

    newer: Literal["objects", "dump"]
    evidence: Phrase


class Times:
    """The times of a dump (`signal`) and of the API's objects that it is compared with. `nodes` by name and `pods` by uid are the API's.

    `earlier` are older dumps of the same scheduler.
    """

    def __init__(self, nodes: Mapping[str, Node], pods: Mapping[str, Pod], signal: Signal, earlier: Sequence[Signal] = ()) -> None:
        self._signal = signal
        self._earlier = earlier
        self._by_key = {pod.key: pod for pod in pods.values()}
        objects: list[Node | Pod] = [*nodes.values(), *pods.values()]
        times = [changed for obj in objects if (changed := _changed(obj)) is not None]
        #: The newest time in the objects: they were taken then or later.
        self.newest = max(times, default=None)
        self._zone = self._time_zone()
        #: When the dump was made, in seconds since 1970; None: unknown.
        self.dump = self._seconds(signal.at) if signal.seconds is None else signal.seconds
        #: Which of the two is newer, and the evidence; None if it is unknown.
        self.order: Order | None = self._order()
        self.is_busy = self._is_busy()
        self._left_out: Counter[str] = Counter()

    # When.

    @cached_property
    def _older(self) -> list[Signal]:
        """The earlier dumps that are older than the objects: an object that came before them was there when they were made."""
        newest = self.newest
        return [signal for signal in self._earlier if newest is not None and (at := self._seconds(signal.at)) is not None and at < newest]

    @cached_property
    def _in_older(self) -> frozenset[str]:
        """The uids of their pods."""
        return frozenset(
            pod.uid for signal in self._older for pods in (*(node.pods for node in signal.dump.nodes), signal.dump.pending) for pod in pods
        )

    def _lacks(self, signal: Signal, obj: Node | Pod) -> bool:
        """Whether an older dump lacks an object that was there."""
        at, changed = self._seconds(signal.at), _changed(obj)
        if at is None or changed is None or changed > at - SLACK_SECONDS:
            return False
        if isinstance(obj, Node):
            return all(node.name != obj.name for node in signal.dump.nodes)
        return obj.uid not in self._in_older and obj.key not in signal.tried_next

    def _time_zone(self) -> int:
        """What to add to the log's times, which are local: the quarter of an hour that most bindings agree on."""
        offsets: Counter[int] = Counter()
        for key, at in self._signal.bound.items():
            pod, logged = self._by_key.get(key), self._in_utc(at)
            bound = _bound(pod) if pod is not None else None
            if bound is not None and logged is not None:
                offset = round((bound - logged) / _QUARTER) * _QUARTER
                if abs(bound - logged - offset) <= SLACK_SECONDS:
                    offsets[offset] += 1
        return offsets.most_common(1)[0][0] if offsets else 0

    def _seconds(self, at: str) -> float | None:
        seconds = self._in_utc(at)
        return None if seconds is None else seconds + self._zone

    def _in_utc(self, at: str) -> float | None:
        """A time in the log's format as if it were UTC. klog's text has no year: the one that is nearest to the objects."""
        match = _KLOG.fullmatch(at)
        if match is None:
            try:
                return timestamps.parse_timestamp(at)
            except ValueError:
                return None
        if self.newest is None:
            return None
        month, day, hour, minute, second = map(int, match.groups()[:5])
        year = datetime.fromtimestamp(self.newest, UTC).year
        times: list[float] = []
        for candidate in (year - 1, year, year + 1):
            try:
                times.append(datetime(candidate, month, day, hour, minute, second, tzinfo=UTC).timestamp())
            except ValueError:
                continue
        newest = self.newest
        return min(times, key=lambda seconds: abs(seconds - newest)) + float(f"0.{match[6]}") if times else None

    def _order(self) -> Order | None:
        if self.dump is not None and self.newest is not None and self.newest > self.dump + _TRUNCATED:
            return Order(
                "objects", phrase("the objects are at least {seconds} s newer than the dump", seconds=f"{self.newest - self.dump:.0f}")
            )
        for key, at in self._signal.bound.items():
            bound, pod = self._seconds(at), self._by_key.get(key)
            if pod is None or pod.spec.node_name or bound is None or (self.dump is not None and bound > self.dump):
                continue
            if (_created(pod) or bound) <= bound:
                return Order(
                    "dump", phrase("the dump is newer than the objects, where pod {pod} is not bound, as it is in the log", pod=key)
                )
        return None

    def _is_busy(self) -> bool:
        """Whether pods came and were bound around the dump."""
        dump = self.dump
        if dump is None:
            return False
        times = (time for pod in self._by_key.values() for time in (_created(pod), _bound(pod)))
        bound = (self._seconds(at) for key, at in self._signal.bound.items() if key not in self._by_key)
        near = sum(time is not None and abs(time - dump) <= _NEAR_SECONDS for time in chain(times, bound))
        return near >= _BUSY

    # What can be compared.

    def may_lack(self, obj: Node | Pod) -> bool:
        """Whether an object that the dump lacks may have come after the dump, or gone before it."""
        if self.is_recent(obj):
            return True
        if any(self._lacks(signal, obj) for signal in self._older):
            return False
        return self.is_busy if self.order is None else self.order.newer == "dump"

    def may_be_gone(self, pod: str, uid: str) -> bool:
        """Whether a pod that the API lacks may have gone after the dump, or come before it."""
        if self.order is None:
            return self.is_busy or (pod in self._signal.attempts and pod not in self._by_key)
        return self.order.newer == "objects" or uid not in self._in_older

    @property
    def may_differ(self) -> bool:
        """Whether the files are of different times, so that any object may have changed in between."""
        return self.order is not None or self.is_busy

    def is_recent(self, obj: Node | Pod) -> bool:
        """Whether the object changed so late that the dump need not know of it."""
        changed = _changed(obj)
        return self.dump is not None and changed is not None and changed > self.dump - SLACK_SECONDS

    def was_tried(self, pod: str) -> bool:
        """Whether the scheduler may have been trying the pod when the dump was made."""
        return pod in self._signal.tried_next

    def was_bound(self, pod: Pod) -> bool:
        """Whether the log shows that the pod was bound, whatever the objects say."""
        return pod.key in self._signal.bound

    def leave_out(self, about: str) -> None:
        """Remember an object that cannot be compared: `Pod namespace/name`, `Node name`."""
        self._left_out[about] += 1

    def note(self) -> list[Finding]:
        """One note about all objects that cannot be compared; none if all could be."""
        if not self._left_out:
            return []
        pods = [about.partition(" ")[2] for about in self._left_out if about.startswith("Pod ")]
        nodes = [about.partition(" ")[2] for about in self._left_out if about.startswith("Node ")]
        parts = [
            phrase("{count} ({names})", count=counted(len(names), singular, plural), names=some(names))
            for names, singular, plural in ((pods, "{count} pod", "{count} pods"), (nodes, "{count} node", "{count} nodes"))
            if names
        ]
        text = parts[0] if len(parts) == 1 else phrase("{first} and {next}", first=parts[0], next=parts[1])
        sentence = phrase("{what} cannot be compared: they may have changed between the dump and the objects", what=text)
        cause = self.order.evidence if self.order is not None else phrase("pods were created or deleted around the time of the dump")
        return [note(NOT_COMPARED, "Time", ("API", "dump"), sentence, cause, _TAKE_AGAIN)]


def _created(obj: Node | Pod) -> float | None:
    return _parsed(obj.metadata.creation_timestamp)


def _bound(pod: Pod) -> float | None:
    """When the pod was bound, by its condition."""
    condition = next(
        (condition for condition in pod.status.conditions if condition.type == "PodScheduled" and condition.status == "True"), None
    )
    return _parsed(condition.last_transition_time) if condition is not None else None


def _changed(obj: Node | Pod) -> float | None:
    """The newest time in the object."""
    times = [_created(obj)]
    if isinstance(obj, Pod):
        times += [_parsed(condition.last_transition_time) for condition in obj.status.conditions]
        times.append(_parsed(obj.status.start_time))
    return max((time for time in times if time is not None), default=None)


def _parsed(text: str | None) -> float | None:
    """Seconds since 1970; None for a text that is no time."""
    if not text:
        return None
    try:
        return timestamps.parse_timestamp(text)
    except ValueError:
        return None
