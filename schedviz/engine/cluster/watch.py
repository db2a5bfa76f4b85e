"""Watch events on their way to the scheduler: delivered at once, after a latency, or held until a binding is confirmed.

The order is FORMAT.md's ("Order of deliveries"). A pending event is in one of three places:

- `held`: events of the scheduler's writes of a cycle, until the cycle has ended;
- `unconfirmed`: by pod, the event of its binding and later events of the pod from the same binding cycle, until the binding is
  confirmed or a later event of the pod follows;
- `in_flight`: events that have a latency, in the order of their arrival.
"""

from __future__ import annotations

from bisect import insort
from typing import Literal

import msgspec

from schedviz.kube.kinds import BY_NAME, AnyObject

Verb = Literal["ADDED", "MODIFIED", "DELETED"]
#: How far an event is lost: before the informer's store ("watch"), or between the store and its handlers ("handlers"); "": it is not.
LossScope = Literal["", "watch", "handlers"]
#: How a connection loses an event: it drops it ("watch"), or it is disconnected; "": it does not. In both cases the event does not reach
#: the informer's store, so "watch" is as in `LossScope`. WatchDelivered has either of the two.
LossCause = Literal["", "watch", "disconnected"]


class WatchEvent(msgspec.Struct, frozen=True):
    """An object was added, modified or deleted, as the scheduler's informers see it."""

    id: int
    verb: Verb
    kind: str
    object: AnyObject
    lost: LossScope = ""
    #: When the event arrives, in nanoseconds, if it has a latency.
    due: int = 0
    #: The object was deleted, and this is its last known state. Upstream: client-go tools/cache DeletedFinalStateUnknown
    final_state_unknown: bool = False

    @property
    def key(self) -> str:
        """The object's `namespace/name`."""
        return self.object.metadata.key

    @property
    def resource(self) -> str:
        """The object's plural resource name."""
        return BY_NAME[self.kind].resource


class Watches:
    """The scheduler's watch connections, one for each kind. A connection never reorders its events."""

    def __init__(self) -> None:
        #: Kind -> nanoseconds; `*` is every kind without an entry of its own.
        self.latencies: dict[str, int] = {}
        self.held: list[WatchEvent] = []
        self.unconfirmed: dict[str, list[WatchEvent]] = {}
        self.in_flight: list[WatchEvent] = []
        #: Whether a scheduler is watching.
        self.watched = True
        #: Kind -> number of events missed since its connection broke.
        self.unseen: dict[str, int] = {}
        #: Kind -> number of its next events that will be dropped.
        self.drops: dict[str, int] = {}
        #: The number of the last event.
        self.last_id = 0

    def next_id(self) -> int:
        """The number of a new watch event."""
        self.last_id += 1
        return self.last_id

    def latency(self, kind: str) -> int:
        """The latency of a kind's events, in nanoseconds."""
        return self.latencies.get(kind, self.latencies.get("*", 0))

    def set_latency(self, kind: str, nanos: int) -> None:
        """Set the latency of a kind's events; `*` overrides every kind."""
        if kind == "*":
            self.latencies.clear()
        self.latencies[kind] = nanos

    def next_loss(self, kind: str) -> LossCause:
        """How the next event of a kind is lost, if it is; counts lost events."""
        if kind in self.unseen:
            self.unseen[kind] += 1
            return "disconnected"
        if kind not in self.drops:
            return ""
        self.drops[kind] -= 1
        if not self.drops[kind]:
            del self.drops[kind]
        return "watch"

    def cut(self, kind: str) -> list[WatchEvent]:
        """Break the connection of a kind. Returns the events in flight, which will not arrive. Unsent events are discarded."""
        lost = [event for event in self.in_flight if event.kind == kind]
        self.in_flight = [event for event in self.in_flight if event.kind != kind]
        self.held = [event for event in self.held if event.kind != kind]
        if kind == "Pod":
            self.unconfirmed.clear()
        return lost

    def forget(self) -> list[WatchEvent]:
        """Break all connections because the watcher has ended. Returns the events in flight. New connections are intact."""
        lost, self.in_flight = self.in_flight, []
        self.held.clear()
        self.unconfirmed.clear()
        self.unseen.clear()
        self.drops.clear()
        return lost

    def waits_behind(self, event: WatchEvent) -> bool:
        """Whether an earlier event of the same object is delivered only after the cycle."""
        return any(other.kind == event.kind and other.key == event.key for other in self.held)

    def send(self, event: WatchEvent, now: int) -> WatchEvent | None:
        """Put an event in flight if its kind has a latency; None: it arrives at once."""
        due = now + self.latency(event.kind)
        for other in self.in_flight:
            if other.kind == event.kind:
                due = max(due, other.due)
        if due <= now:
            return None
        event = msgspec.structs.replace(event, due=due)
        insort(self.in_flight, event, key=_arrival)
        return event

    @property
    def next_due(self) -> int | None:
        """When the next event arrives."""
        return self.in_flight[0].due if self.in_flight else None

    def arrived(self, now: int) -> WatchEvent | None:
        """Remove and return the next event that has arrived."""
        return self.in_flight.pop(0) if self.in_flight and self.in_flight[0].due <= now else None


def _arrival(event: WatchEvent) -> tuple[int, int]:
    return event.due, event.id
