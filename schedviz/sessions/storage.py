"""How much space sessions take in the database: events, cycles, saved engines and uploads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from uuid import UUID

from django.db.models import Sum
from django.db.models.functions import Length

from schedviz.sessions.models import CheckpointPiece, Chunk, CycleGroup, Upload


def stored_bytes(sessions: Collection[UUID]) -> dict[UUID, int]:
    """Bytes of each of these sessions, 0 for one that stores nothing. The database computes the lengths; no data is transferred."""
    totals: Counter[UUID] = Counter(dict.fromkeys(sessions, 0))
    for rows, session in (
        (Chunk.objects.filter(session__in=sessions), "session_id"),
        (CycleGroup.objects.filter(session__in=sessions), "session_id"),
        (CheckpointPiece.objects.filter(checkpoint__session__in=sessions), "checkpoint__session_id"),
        (Upload.objects.filter(session__in=sessions), "session_id"),
    ):
        # A model's default order would split the groups.
        totals.update(dict(rows.order_by().values_list(session).annotate(bytes=Sum(Length("data")))))
    return dict(totals)
