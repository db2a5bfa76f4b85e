"""Watch events on their way to the scheduler: delivered at once, after a latency, or held until a binding is confirmed.

The order is FORMAT.md's ("Order of deliveries"). An event waits in one of three places:

- `written`: what the scheduler wrote in a cycle, until the cycle has ended;
- `unconfirmed`: by pod, the event of its binding and what happened to the pod since in the same binding cycle, until the binding is
  confirmed or a later event of the pod comes;
- `in_flight`: events that have a latency, in the order of their arrival.
"""

from __future__ import annotations

from bisect import insort
from typing import Literal

import msgspec

from schedviz.kube.kinds import BY_NAME, AnyObject

Verb = Literal["ADDED", "MODIFIED", "DELETED"]
#: What a watch event is lost to: everything, or everything but the informer's store.
Lost = Literal["", "watch", "handlers"]
#: How a connection loses an event: it is dropped, or nobody is connected.
Fate = Literal["", "watch", "disconnected"]


class WatchEvent(msgspec.Struct, frozen=True):
    """An object was added, modified or deleted, as the scheduler's informers are told."""

    id: int
    verb: Verb
    kind: str
    object: AnyObject
    lost: Lost = ""
    #: When it arrives, in nanoseconds; for one with a latency.
    due: int = 0
    #: The object is gone, and this is what was last seen of it. Upstream: client-go tools/cache DeletedFinalStateUnknown
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
    """The watch connections of the scheduler, one for each kind; a connection never reorders its events."""

    def __init__(self) -> None:
        #: Kind -> nanoseconds; `*` is every kind without an entry of its own.
        self.latencies: dict[str, int] = {}
        self.written: list[WatchEvent] = []
        self.unconfirmed: dict[str, list[WatchEvent]] = {}
        self.in_flight: list[WatchEvent] = []
        #: Whether there is a scheduler that watches.
        self.watched = True
        #: Kind -> how many events were missed since its connection broke.
        self.unseen: dict[str, int] = {}
        #: Kind -> how many of its next events get lost.
        self.drops: dict[str, int] = {}
        #: The number of the last event.
        self.last_id = 0

    def next_id(self) -> int:
        """The number of a new watch event."""
        self.last_id += 1
        return self.last_id

    def latency(self, kind: str) -> int:
        """How long events of a kind take, in nanoseconds."""
        return self.latencies.get(kind, self.latencies.get("*", 0))

    def set_latency(self, kind: str, nanos: int) -> None:
        """Set how long events of a kind take from now on; `*` overrides every kind."""
        if kind == "*":
            self.latencies.clear()
        self.latencies[kind] = nanos

    def fate(self, kind: str) -> Fate:
        """What becomes of an event of a kind; counts it where it is lost."""
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
        """Break the connection of a kind: the events that were on their way and do not arrive. What waited to be sent is not sent."""
        lost = [event for event in self.in_flight if event.kind == kind]
        self.in_flight = [event for event in self.in_flight if event.kind != kind]
        self.written = [event for event in self.written if event.kind != kind]
        if kind == "Pod":
            self.unconfirmed.clear()
        return lost

    def forget(self) -> list[WatchEvent]:
        """Break all connections, since the watcher is gone: the events that were on their way. New connections are whole."""
        lost, self.in_flight = self.in_flight, []
        self.written.clear()
        self.unconfirmed.clear()
        self.unseen.clear()
        self.drops.clear()
        return lost

    def waits_behind(self, event: WatchEvent) -> bool:
        """Whether an event of the same object is still to be delivered after the cycle."""
        return any(other.kind == event.kind and other.key == event.key for other in self.written)

    def send(self, event: WatchEvent, now: int) -> WatchEvent | None:
        """Put an event on the wire if it takes time; None: it arrives at once."""
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
        """The next event whose time has come, taken off the wire."""
        return self.in_flight.pop(0) if self.in_flight and self.in_flight[0].due <= now else None


def _arrival(event: WatchEvent) -> tuple[int, int]:
    return event.due, event.id
