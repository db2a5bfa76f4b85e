"""Where two runs diverge: the first event and the first scheduling cycle that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Any, Final

import msgspec

from schedviz.trace.comparing.differences import differences
from schedviz.trace.comparing.result import CycleShown, Difference, Divergence, EventShown, FirstCycle, FirstEvent
from schedviz.trace.comparing.side import Side, Summary
from schedviz.trace.events import AnyEvent, ApiWritten, CacheCall, ClockAdvanced, CommandDone, CycleEnded, WatchDelivered, WatchSent

#: The maximum number of equal events that are compared; beyond it only cycles are.
MAX_EVENTS: Final = 200_000
#: Events that describe how a run was driven, not what it did.
_DRIVING_EVENTS = (CommandDone, ClockAdvanced, WatchSent, WatchDelivered, CacheCall)
#: Members with times and counters, which can differ without any other difference.
_INCIDENTAL_MEMBERS: Final = frozenset(
    {
        "event",
        "at",
        "id",
        "uid",
        "seq",
        "cycle",
        "generation",
        "dueSeconds",
        "deadlineSeconds",
        "timestampSeconds",
        "initialAttemptTimestampSeconds",
        "backoffExpirySeconds",
        "queuedSeconds",
        "waitedSeconds",
        "atSeconds",
        "schedulingCycle",
        "moveRequestCycle",
        "count",
        # Facts of the stages Score and NormalizeScore that older builds did not record; the winner's scores are compared.
        "best",
        "weights",
    }
)
#: Members of a cycle's summary with its decisions.
_DECISION_MEMBERS: Final = (
    "pod",
    "profile",
    "outcome",
    "node",
    "message",
    "allNodes",
    "evaluatedNodes",
    "feasibleNodes",
    "numFeasibleNodesToFind",
    "startNodeIndex",
    "tiedNodes",
    "winner",
    "runnerUp",
    "unschedulablePlugins",
)


def first_divergence(a: Side, b: Side, *, shared_event: int, shared_cycle: int) -> tuple[Divergence | None, tuple[Summary, Summary] | None]:
    """The first events that differ, and the first cycles that differ if both runs have one."""
    event = _first_event(a, b, shared_event)
    pair = _first_cycle(a, b, shared_cycle)
    if event is None and pair is None:
        return None, None
    cycle = None
    if pair is not None:
        in_a, in_b = pair
        cycle = FirstCycle(_shown(in_a), _shown(in_b), _what_was_decided(in_a, in_b))
    both = (pair[0], pair[1]) if pair is not None and pair[0] is not None and pair[1] is not None else None
    other_result = _first_other_result(a, b, shared_cycle) if cycle is not None and _ended_alike(cycle) else None
    return Divergence(text=_sentence(event, cycle, other_result), event=event, cycle=cycle), both


# --- Events


def _first_event(a: Side, b: Side, after: int) -> FirstEvent | None:
    pairs = zip_longest(_without_driving(a.events(after)), _without_driving(b.events(after)))
    for in_a, in_b in islice(pairs, MAX_EVENTS):
        if in_a is None or in_b is None or not _alike(in_a, in_b):
            event_differences = [] if in_a is None or in_b is None else differences(_body(in_a), _body(in_b), maximum=20)
            return FirstEvent(_event_shown(in_a), _event_shown(in_b), event_differences)
    return None


def _without_driving(events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
    return (event for event in events if not isinstance(event, _DRIVING_EVENTS))


def _alike(a: AnyEvent, b: AnyEvent) -> bool:
    if type(a) is not type(b):
        return False
    same: AnyEvent = msgspec.structs.replace(a, event=b.event, at=b.at, cycle=b.cycle)
    return same == b or _body(a) == _body(b)


def _body(event: AnyEvent) -> dict[str, Any]:
    body: dict[str, Any] = _without_incidental(msgspec.to_builtins(event))
    if isinstance(event, ApiWritten):
        # Compares which object was written and how; the number of objects follows from earlier events.
        body.pop("detail", None)
    elif isinstance(event, CycleEnded):
        # The pod is that of the preceding CycleStarted; older versions did not store it.
        body.pop("pod", None)
    return body


def _without_incidental(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_incidental(inner) for name, inner in value.items() if name not in _INCIDENTAL_MEMBERS}
    if isinstance(value, list):
        return [_without_incidental(inner) for inner in value]
    return value


def _event_shown(event: AnyEvent | None) -> EventShown | None:
    return None if event is None else EventShown(event.event, event.cycle, msgspec.to_builtins(event))


# --- Cycles


def _first_cycle(a: Side, b: Side, after: int) -> tuple[Summary | None, Summary | None] | None:
    for in_a, in_b in zip_longest(a.cycles(after), b.cycles(after)):
        if in_a is None or in_b is None or _what_was_decided(in_a, in_b):
            return in_a, in_b
    return None


def _first_other_result(a: Side, b: Side, after: int) -> tuple[CycleShown | None, CycleShown | None] | None:
    """The first cycles with another pod or another result. Two configurations give different scores from the first cycle on, which is
    rarely of interest.
    """
    for in_a, in_b in zip_longest(a.cycles(after), b.cycles(after)):
        if in_a is None or in_b is None or _end(in_a) != _end(in_b):
            return _shown(in_a), _shown(in_b)
    return None


def _end(summary: Summary) -> tuple[str, str, str]:
    return summary.cycle.pod, summary.cycle.outcome, summary.cycle.node


def _ended_alike(cycle: FirstCycle) -> bool:
    """Whether the first cycles that differ have the same result for the same pod, for other reasons."""
    a, b = cycle.a, cycle.b
    return a is not None and b is not None and (a.pod, a.outcome, a.node) == (b.pod, b.outcome, b.node)


def _what_was_decided(a: Summary | None, b: Summary | None) -> list[Difference]:
    if a is None or b is None or a.cycle == b.cycle:
        return []
    in_a, in_b = _decisions(a), _decisions(b)
    return differences(in_a, in_b, maximum=50)


def _decisions(summary: Summary) -> dict[str, Any]:
    cycle = msgspec.to_builtins(summary.cycle)
    return {name: cycle.get(name) for name in _DECISION_MEMBERS}


def _shown(summary: Summary | None) -> CycleShown | None:
    if summary is None:
        return None
    cycle = summary.cycle
    return CycleShown(cycle.cycle, cycle.pod, cycle.outcome, cycle.node, cycle.message, summary.first_event, summary.last_event)


# --- As text


def _sentence(event: FirstEvent | None, cycle: FirstCycle | None, other_result: tuple[CycleShown | None, CycleShown | None] | None) -> str:
    parts = []
    if event is not None:
        parts.append(f"First event that differs: {_event_words(event.a, 'A')}; {_event_words(event.b, 'B')}.")
    if cycle is not None:
        parts.append(f"First cycle that differs: {_cycle_words(cycle.a, 'A')}; {_cycle_words(cycle.b, 'B')}.")
        if _ended_alike(cycle) and cycle.what:
            parts.append(f"Its result is the same, but {_difference_words(cycle.what[0])}.")
    if other_result is not None:
        parts.append(f"First cycle with another result: {_cycle_words(other_result[0], 'A')}; {_cycle_words(other_result[1], 'B')}.")
    return " ".join(parts)


def _difference_words(difference: Difference) -> str:
    return f"{difference.path} is {difference.a} in A and {difference.b} in B"


def _event_words(event: EventShown | None, side: str) -> str:
    if event is None:
        return f"{side} has no further events"
    return f"{side} at event {event.event}: {_happened(event.body)}"


def _happened(event: dict[str, Any]) -> str:
    """An event of any kind in a few words, without the names of the wire."""
    text = {name: str(value) for name, value in event.items() if isinstance(value, str | int)}
    match text["t"]:
        case "apiWritten":
            return f"API server: {text['verb']} {text['kind']} {text['key']}"
        case "queueMoved":
            return f"scheduling queue: {text.get('cause', '')}"
        case "cachePod":
            return f"cache: {text['op']} pod {text['pod']}"
        case "cacheNode":
            return f"cache: {text['op']} node {text['node']}"
        case "snapshotUpdated":
            return "UpdateSnapshot"
        case "cycleEnded":
            return f"the cycle ends, {text['outcome']}"
        case "stageEnded":
            return f"{text['stage']} ends"
    about = next((text[name] for name in ("pod", "node", "key", "stage", "kind") if text.get(name)), "")
    kind = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in text["t"])
    return f"{kind} ({about})" if about else kind


def _cycle_words(cycle: CycleShown | None, side: str) -> str:
    if cycle is None:
        return f"{side} has no further cycles"
    result = "fails with an error" if cycle.outcome == "error" else f"is {cycle.outcome}"
    where = f" to {cycle.node}" if cycle.node else ""
    return f"{side} in cycle {cycle.cycle}: {cycle.pod} {result}{where}"
