"""Pods that were popped and are not done, and the cluster events since the oldest of them was popped.

A pod that comes back from its cycle goes to activeQ or backoffQ, not to unschedulablePods, if one of the events that it missed may help it.

Upstream: backend/queue/active_queue.go inFlightPods, inFlightEvents
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.types import ActionType, ClusterEvent
from schedviz.kube.core import Node, Pod
from schedviz.kube.kinds import AnyObject, any_object, kind_of
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import InFlightChanged
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import InFlightEntry


class InFlightEvent(NamedTuple):
    """A cluster event, and the object before and after it."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None

    def to_view(self) -> InFlightEntry:
        return InFlightEntry(event=self.event.label, old=reference(self.old), new=reference(self.new))


def reference(obj: KubeObject | None) -> str:
    """An object as FORMAT-1.36 names it, such as `Node n1`; "": none."""
    return "" if obj is None else f"{kind_of(obj).name} {obj.metadata.key}"


class ObjectState(msgspec.Struct, frozen=True):
    """An object of an event: pods and nodes by their number in the table, others as JSON."""

    pod: int | None = None
    node: int | None = None
    other: AnyObject | None = None


class InFlightState(msgspec.Struct, frozen=True):
    """InFlightList in a checkpoint: `pods` as uid and key, `events` with their objects; `order` has True for a pod."""

    order: list[bool]
    pods: list[tuple[str, str]]
    #: The event's resource, action and label, and the object before and after it.
    events: list[tuple[str, int, str, ObjectState | None, ObjectState | None]]


class InFlightList:
    """The list of pods and events, in order. Every change is recorded."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        #: Position -> a pod's uid and key, or an event. Positions grow, and those of removed entries are missing.
        self._entries: dict[int, tuple[str, str] | InFlightEvent] = {}
        #: Uid -> position.
        self._pods: dict[str, int] = {}
        self._next = 0

    def __len__(self) -> int:
        """The number of pods."""
        return len(self._pods)

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def add_pod(self, uid: str, key: str) -> None:
        """A pod was popped."""
        self._append_pod(uid, key)
        self._recorder.record(InFlightChanged, added=[InFlightEntry(pod=key, uid=uid)])

    def add_events(self, added: list[InFlightEvent]) -> None:
        """Events arrived while pods are in flight."""
        for event in added:
            self._append(event)
        self._recorder.record(InFlightChanged, added=[event.to_view() for event in added])

    def _append_pod(self, uid: str, key: str) -> None:
        self._pods[uid] = self._next
        self._append((uid, key))

    def _append(self, entry: tuple[str, str] | InFlightEvent) -> None:
        self._entries[self._next] = entry
        self._next += 1

    def events_since(self, uid: str) -> Iterator[InFlightEvent] | None:
        """The events since a pod was popped; None: it is not in flight. Upstream: clusterEventsForPod"""
        begun = self._pods.get(uid)
        if begun is None:
            return None
        return (entry for position, entry in list(self._entries.items()) if position > begun and isinstance(entry, InFlightEvent))

    def done(self, uid: str) -> None:
        """Remove a pod, if it is in flight, and the events that no other pod needs. Upstream: done"""
        position = self._pods.pop(uid, None)
        if position is None:
            return
        del self._entries[position]
        while self._entries:
            first = next(iter(self._entries))
            if not isinstance(self._entries[first], InFlightEvent):
                break
            del self._entries[first]
        self._recorder.record(InFlightChanged, done=uid)

    def to_view(self) -> list[InFlightEntry]:
        """The list, oldest first."""
        return [
            entry.to_view() if isinstance(entry, InFlightEvent) else InFlightEntry(pod=entry[1], uid=entry[0])
            for entry in self._entries.values()
        ]

    def to_state(self, table: ObjectTable) -> InFlightState:
        """The state for a checkpoint."""
        entries = list(self._entries.values())
        save = _saver(table)
        return InFlightState(
            order=[not isinstance(entry, InFlightEvent) for entry in entries],
            pods=[entry for entry in entries if not isinstance(entry, InFlightEvent)],
            events=[
                (entry.event.resource, int(entry.event.action_type), entry.event.label, save(entry.old), save(entry.new))
                for entry in entries
                if isinstance(entry, InFlightEvent)
            ],
        )

    def load(self, state: InFlightState, table: ObjectTable) -> None:
        """Load the state of `to_state` into an empty list."""
        pods, events = iter(state.pods), iter(state.events)
        for is_pod in state.order:
            if is_pod:
                self._append_pod(*next(pods))
            else:
                resource, action, label, old, new = next(events)
                event = ClusterEvent(resource, ActionType(action), label)
                self._append(InFlightEvent(event, _load(old, table), _load(new, table)))


def _saver(table: ObjectTable) -> Callable[[KubeObject | None], ObjectState | None]:
    def save(obj: KubeObject | None) -> ObjectState | None:
        match obj:
            case None:
                return None
            case Pod():
                return ObjectState(pod=table.pod_ref(obj))
            case Node():
                return ObjectState(node=table.node_ref(obj))
        return ObjectState(other=any_object(obj))

    return save


def _load(state: ObjectState | None, table: ObjectTable) -> KubeObject | None:
    if state is None:
        return None
    if state.pod is not None:
        return table.pods[state.pod]
    if state.node is not None:
        return table.nodes[state.node]
    return state.other
