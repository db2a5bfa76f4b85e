"""The times of decisions that an observer pushed with its batches: the newest are stored, for the engine worker that judges bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec
from django.db.models.functions import Length

from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.sessions.models import DecisionBatch
from schedviz.sessions.queries import observed

#: The maximum number of times in one batch.
MAX_TIMES: Final = 2000
#: How many batches are kept, how many bytes of them, and after how many new batches older ones are deleted. A time takes about 100 bytes.
_MAX_BATCHES: Final = 2048
_MAX_STORED_BYTES: Final = 4 << 20
_SWEEP_INTERVAL_BATCHES: Final = 256
#: Larger batches are followed by a sweep each.
_LARGE_BYTES: Final = 64 << 10

_decoder = msgspec.json.Decoder(list[DecisionTime])


def store(session_id: UUID, n: int, times: Sequence[DecisionTime]) -> None:
    """Store the times of batch `n`, in the transaction that accepts it."""
    data = msgspec.json.encode(times)
    observed.insert_times(session_id, n, data)
    if n % _SWEEP_INTERVAL_BATCHES == 0 or len(data) > _LARGE_BYTES:
        _sweep(session_id)


def _sweep(session_id: UUID) -> None:
    """Delete all but the newest batches: no quota counts them, and a worker reads all of them at once."""
    rows = DecisionBatch.objects.filter(session_id=session_id)
    size = 0
    for place, (n, length) in enumerate(rows.order_by("-n").values_list("n", Length("times"))):
        size += length
        if place and (place >= _MAX_BATCHES or size > _MAX_STORED_BYTES):
            rows.filter(n__lte=n).delete()
            return


def read_after(session_id: UUID, n: int) -> tuple[int, list[DecisionTime]]:
    """The times of the batches after `n`, and the number of the last of them."""
    times: list[DecisionTime] = []
    for number, data in DecisionBatch.objects.filter(session_id=session_id, n__gt=n).order_by("n").values_list("n", "times"):
        n = number
        times += _decoder.decode(bytes(data))
    return n, times
