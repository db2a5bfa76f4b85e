"""How much of the database sessions take: their events and cycles, saved engines and uploads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from uuid import UUID

from django.db.models import Sum
from django.db.models.functions import Length

from schedviz.sessions.models import CheckpointPiece, Chunk, CycleGroup, Upload


def stored_bytes(sessions: Collection[UUID]) -> dict[UUID, int]:
    """Bytes of each of these sessions. It asks the database for lengths alone; a session with nothing stored has 0."""
    found: Counter[UUID] = Counter(dict.fromkeys(sessions, 0))
    for rows, session in (
        (Chunk.objects.filter(session__in=sessions), "session_id"),
        (CycleGroup.objects.filter(session__in=sessions), "session_id"),
        (CheckpointPiece.objects.filter(checkpoint__session__in=sessions), "checkpoint__session_id"),
        (Upload.objects.filter(session__in=sessions), "session_id"),
    ):
        # The order of a model would split the groups.
        found.update(dict(rows.order_by().values_list(session).annotate(bytes=Sum(Length("data")))))
    return dict(found)
