"""A followed cluster's newest bindings over time, by profile, plugin and cause; and the queue that its pods imply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec
from django.db.models import Count

from schedviz.sessions.models import ShadowedPod
from schedviz.sessions.observing.agreement import COLUMNS, VerdictCounts, judged

#: How many of the newest bindings are broken down.
MAX_BINDINGS: Final = 2000
#: At most this many intervals cover them; each lasts one of these numbers of seconds.
_MAX_INTERVALS: Final = 48
_INTERVAL_SECONDS: Final = (10, 60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600)
#: The maximum number of pods that are named for each place in the queue.
MAX_NAMED_PODS: Final = 20


class VerdictInterval(msgspec.Struct, frozen=True):
    """The bindings that were judged in a stretch of time."""

    begins: datetime
    counts: VerdictCounts


class Breakdown(msgspec.Struct, frozen=True):
    """The newest bindings. `plugins` and `causes` are about those that do not agree."""

    bindings: int
    seconds: int
    over_time: list[VerdictInterval]
    profiles: dict[str, VerdictCounts]
    plugins: dict[str, int]
    causes: dict[str, int]


class QueuePlace(msgspec.Struct, frozen=True):
    """The number of pods in one place of the inferred queue, and the names of those that arrived first."""

    count: int
    pods: list[str]


def breakdown_of(session_id: UUID) -> Breakdown:
    """Break down the newest bindings."""
    newest = judged(session_id).filter(judged_at__isnull=False).order_by("-bound_event")
    rows = list(newest.values_list("judged_at", "verdict", "profile", "plugin", "cause")[:MAX_BINDINGS])
    times = [time for time, *_ in rows if time is not None]
    seconds = _interval_seconds(times)
    over_time: dict[datetime, list[str]] = {}
    profiles: dict[str, list[str]] = {}
    for time, (_, verdict, profile, _, _) in zip(times, rows, strict=True):
        over_time.setdefault(_begins(time, seconds), []).append(verdict)
        profiles.setdefault(profile, []).append(verdict)
    return Breakdown(
        bindings=len(rows),
        seconds=seconds,
        over_time=[VerdictInterval(begins, _counts(over_time[begins])) for begins in sorted(over_time)],
        profiles={name: _counts(verdicts) for name, verdicts in sorted(profiles.items())},
        plugins=_most_common(row[3] for row in rows),
        causes=_most_common(row[4] for row in rows),
    )


def inferred_queue(session_id: UUID) -> dict[str, QueuePlace]:
    """The pods that wait in the cluster, by the place that their conditions imply (see pending.py)."""
    waiting = ShadowedPod.objects.filter(session_id=session_id, bound_event=None)
    counts = dict(waiting.values_list("place").annotate(count=Count("pk")))
    # A pod whose conditions say nothing is in activeQ. That is the place of pods of earlier versions of schedviz, too.
    counts["active"] = counts.get("active", 0) + counts.pop("", 0)
    places: dict[str, QueuePlace] = {}
    for place, count in sorted(counts.items()):
        of_place = waiting.filter(place__in=["", "active"] if place == "active" else [place])
        places[place] = QueuePlace(count, list(of_place.order_by("pk").values_list("pod", flat=True)[:MAX_NAMED_PODS]))
    return places


def _interval_seconds(times: list[datetime]) -> int:
    stretch = (max(times) - min(times)).total_seconds() if times else 0.0
    return next((seconds for seconds in _INTERVAL_SECONDS if stretch <= seconds * (_MAX_INTERVALS - 1)), _INTERVAL_SECONDS[-1])


def _begins(time: datetime, seconds: int) -> datetime:
    return time - timedelta(seconds=time.timestamp() % seconds)


def _counts(verdicts: list[str]) -> VerdictCounts:
    counted = Counter(verdicts)
    return VerdictCounts(**{column: counted[verdict] for verdict, column in COLUMNS.items()})


def _most_common(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(name for name in names if name).most_common())
