"""The times of decisions that an observer pushed with its batches: stored for some minutes, for the engine worker that judges bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from schedviz.explain.decision_times import DecisionTime
from schedviz.sessions.models import DecisionBatch

#: The most times in one batch.
MOST: Final = 2000
#: How many batches are kept, and how often older ones are deleted.
_KEPT: Final = 2048
_SWEPT_EVERY: Final = 256

_decoder = msgspec.json.Decoder(list[DecisionTime])


def store(session_id: UUID, n: int, times: Sequence[DecisionTime]) -> None:
    """Store the times of batch `n`, in the transaction that accepts it."""
    DecisionBatch.objects.create(session_id=session_id, n=n, times=msgspec.json.encode(times))
    if n % _SWEPT_EVERY == 0:
        DecisionBatch.objects.filter(session_id=session_id, n__lte=n - _KEPT).delete()


def read_after(session_id: UUID, n: int) -> tuple[int, list[DecisionTime]]:
    """The times of the batches after `n`, and the number of the last of them."""
    times: list[DecisionTime] = []
    for number, data in DecisionBatch.objects.filter(session_id=session_id, n__gt=n).order_by("n").values_list("n", "times"):
        n = number
        times += _decoder.decode(bytes(data))
    return n, times
