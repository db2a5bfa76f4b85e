"""Watches the Events `Scheduled` and `FailedScheduling`: when the cluster's scheduler bound pods, and when it rejected them before.

Events are evidence only. If they cannot be read, nothing else changes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import msgspec

from schedviz.cli.follow.backoff import SHORT_WATCH_SECONDS, Backoff
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.decisions import RecentTimes
from schedviz.cli.follow.errors import Expired, FollowError, Forbidden, NotServed, Unavailable
from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.kube import timestamps
from schedviz.kube.kinds import Kind
from schedviz.kube.meta import KubeObject

#: The resource, as `--without` names it.
RESOURCE: Final = "events"
SCHEDULED, FAILED = "Scheduled", "FailedScheduling"
_KIND: Final = Kind("Event", "v1", RESOURCE, True, KubeObject)
#: The name of an Event ends with the nanoseconds at which it was made. Upstream: client-go tools/record/event.go makeEvent
_HEX_DIGITS: Final = 16
_MICROSECONDS: Final = 1_000_000


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""


class _Pod(msgspec.Struct, frozen=True, rename="camel"):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class _Series(msgspec.Struct, frozen=True, rename="camel"):
    last_observed_time: str | None = None


class _Event(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _Meta = _Meta()
    involved_object: _Pod = _Pod()
    reason: str = ""
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: _Series | None = None


_decoder = msgspec.json.Decoder(_Event)


class EventDecisions:
    """The decisions in Events; safe for two threads, each of which has the Events of one reason."""

    def __init__(self, emit: Callable[[DecisionTime], None]) -> None:
        self._emit = emit
        self._rejected = RecentTimes()
        self._lock = threading.Lock()

    def has_rejected(self, uid: str) -> bool:
        """Whether a pod was rejected and not bound since."""
        return uid in self._rejected

    def read(self, content: bytes) -> None:
        """An event as JSON."""
        try:
            event = _decoder.decode(content)
            at = time_of(event)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return
        pod = event.involved_object
        if pod.kind != "Pod" or not at:
            return
        with self._lock:
            if event.reason == FAILED:
                self._rejected.record(pod.uid, max(at, self._rejected.get(pod.uid, 0)))
                return
            after = self._rejected.pop(pod.uid, 0)
        if event.reason == SCHEDULED:
            self._emit(DecisionTime(f"{pod.namespace}/{pod.name}", "added", after, at, uid=pod.uid))


def time_of(event: _Event) -> int:
    """When the last occurrence of an event was, in microseconds since 1970; not later than that. 0: not known. Raises `ValueError`."""
    if event.series is not None and event.series.last_observed_time:
        return _microseconds(event.series.last_observed_time)
    if event.event_time:
        return _microseconds(event.event_time)
    last = _microseconds(event.last_timestamp or event.first_timestamp or "")
    if (event.count or 1) > 1:
        return last
    suffix = event.metadata.name.rpartition(".")[2]
    exact = int(suffix, 16) // 1000 if len(suffix) == _HEX_DIGITS else 0
    # The timestamps are in whole seconds.
    return exact if 0 <= exact - last < _MICROSECONDS else last


def _microseconds(text: str) -> int:
    return round(timestamps.parse_timestamp(text) * _MICROSECONDS) if text else 0


class EventWatch:
    """Watches the events of one reason until it is stopped."""

    def __init__(self, api: ClusterApi, reason: str, decisions: EventDecisions, *, say: Callable[[str], None]) -> None:
        self._api = api
        self._selector = f"involvedObject.kind=Pod,reason={reason}"
        self._decisions = decisions
        self._say = say

    def run(self, stop: threading.Event) -> None:
        """Watch from now on."""
        version = ""
        backoff = Backoff()
        while not stop.is_set():
            began = time.monotonic()
            try:
                version = version or self._api.version_of_list(_KIND, self._selector)
                for event in self._api.watch(_KIND, version, selector=self._selector):
                    if event.type in ("ADDED", "MODIFIED"):
                        self._decisions.read(event.object)
                    version = event.resource_version or version
                    if stop.is_set():
                        return
            except (Forbidden, NotServed):
                self._say(
                    "events cannot be read: more bindings stay undecided, because the order of decisions is not known (docs/follow.md)."
                )
                return
            except Expired:
                version = ""
            except (FollowError, Unavailable):
                pass
            if time.monotonic() - began > SHORT_WATCH_SECONDS:
                backoff.reset()
            backoff.wait(stop)
