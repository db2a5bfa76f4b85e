"""The history of one pod or one node as entries in order, from events that may begin anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from schedviz.trace import sentences
from schedviz.trace.affected_objects import is_birth, is_death
from schedviz.trace.events import (
    AnyEvent,
    ApiWritten,
    BindingEnded,
    BindingReleased,
    BindingStageEnded,
    BindingStarted,
    CacheCall,
    CachePod,
    CycleEnded,
    CycleStarted,
    PermitAnswered,
    Restarted,
    StageEnded,
    WatchDelivered,
)
from schedviz.trace.phrase import Phrase, phrase


class Entry(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One line of a history, in English and as a phrase. `uid` distinguishes pods with one name; `stage` is the stage that ended."""

    event: int
    clock_seconds: float
    cycle: int
    t: str
    text: str
    phrase: Phrase
    uid: str = ""
    stage: str = ""


class Life(msgspec.Struct, frozen=True, rename="camel"):
    """One of the pods with a name. `born` is the event of its creation, 0: it was imported; `died` that of its deletion."""

    uid: str
    born: int = 0
    died: int | None = None


class CyclePod(msgspec.Struct, frozen=True):
    """The pod of a cycle."""

    pod: str = ""
    uid: str = ""


#: Returns the pod of a cycle that the events so far do not name.
FindCycle = Callable[[int], CyclePod]


def lives_of(pod: str, events: Iterable[AnyEvent]) -> list[Life]:
    """The pods with this name, oldest first, from events with all their creations and deletions, and the first mention of its uid."""
    lives: list[Life] = []
    for event in events:
        uid = own_uid(event, pod)
        if is_birth(event) and uid is not None:
            lives.append(Life(uid=uid, born=event.event))
            continue
        if not lives and uid:
            lives.append(Life(uid=uid))
        if lives and is_death(event) and uid is not None:
            lives[-1] = msgspec.structs.replace(lives[-1], died=event.event)
    return lives


def own_uid(event: AnyEvent, pod: str) -> str | None:
    """The uid in an event about this pod; None: the event is about another pod, or has no uid."""
    match event:
        case CachePod() | CacheCall() | CycleStarted():
            return event.uid if event.pod == pod else None
        case ApiWritten() if event.resource == "pods" and event.key == pod:
            return event.uid or None
    return None


class StoryBuilder:
    """Builds the history of one pod or node. Events are given in order; stretches that do not affect it may be left out."""

    def __init__(self, kind: str, name: str, *, lives: Sequence[Life] = (), find_cycle: FindCycle) -> None:
        self._is_pod = kind == "pods"
        self._name = name
        self._lives = lives
        self._find_cycle = find_cycle
        self._cycle = 0
        self._cycle_pod = CyclePod()
        #: The uid of the pod that the scheduler knows by this name.
        self._seen: str | None = None
        #: Scheduling cycle → uid, for its binding cycle.
        self._uids: dict[int, str] = {}

    def entries(self, events: Iterable[AnyEvent]) -> Iterator[Entry]:
        """The entries of these events."""
        for event in events:
            entry = self._entry(event)
            if entry is not None:
                yield entry

    def _entry(self, event: AnyEvent) -> Entry | None:
        if isinstance(event, CycleStarted):
            self._cycle, self._cycle_pod = event.cycle, CyclePod(event.pod, event.uid)
        if isinstance(event, Restarted):
            sentence: Phrase | None = _restarted(event)
        else:
            sentence_of = sentences.of_pod if self._is_pod else sentences.of_node
            sentence = sentence_of(event, self._name, cycle_pod=self._running(event).pod)
        uid = self._uid(event) if self._is_pod else ""
        if sentence is None:
            return None
        return Entry(
            event=event.event,
            clock_seconds=event.at,
            cycle=event.cycle,
            t=str(type(event).__struct_config__.tag),
            text=sentence.text,
            phrase=sentence,
            uid=uid,
            stage=event.stage if isinstance(event, StageEnded | BindingStageEnded) else "",
        )

    def _running(self, event: AnyEvent) -> CyclePod:
        """The pod of the event's scheduling cycle."""
        if not event.cycle or not isinstance(event, StageEnded | CycleEnded | ApiWritten):
            return CyclePod()
        if event.cycle != self._cycle:
            self._cycle, self._cycle_pod = event.cycle, self._find_cycle(event.cycle)
        return self._cycle_pod

    def _uid(self, event: AnyEvent) -> str:
        if self._seen is None:
            self._seen = self._life_at(event.event)
        match event:
            case Restarted() if event.reason == "reset":
                self._seen = self._lives[0].uid if self._lives and not self._lives[0].born else ""
            case CycleStarted() if event.pod == self._name:
                self._seen = self._uids[event.cycle] = event.uid
            case WatchDelivered() if event.verb == "ADDED" and event.resource == "pods" and event.key == self._name:
                self._seen = self._life_at(event.event)
            case BindingStarted() | BindingReleased() | BindingStageEnded() | BindingEnded() | PermitAnswered() if event.pod == self._name:
                return self._uids.get(event.cycle) or self._of_older_cycle(event.cycle)
        return own_uid(event, self._name) or self._seen

    def _of_older_cycle(self, cycle: int) -> str:
        self._uids[cycle] = self._find_cycle(cycle).uid or self._seen or ""
        return self._uids[cycle]

    def _life_at(self, event: int) -> str:
        born = [life for life in self._lives if life.born <= event]
        return born[-1].uid if born else ""


def _restarted(event: Restarted) -> Phrase:
    if event.reason == "reset":
        return phrase("the session was reset to the imported state")
    if event.reason:
        return phrase("the scheduler restarted after it had exited: {reason}; its informers list all objects again", reason=event.reason)
    return phrase("the scheduler restarted; its informers list all objects again")
