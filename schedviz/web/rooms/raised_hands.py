"""Raised hands, in the order in which they were raised."""

from __future__ import annotations

from django.utils import timezone

from schedviz.web.rooms import notify
from schedviz.web.rooms.models import Participant


def raise_hand(participant: Participant, *, raised: bool) -> None:
    """Raise or lower a hand. One that is up already keeps its place."""
    mine = Participant.objects.filter(pk=participant.pk, hand_at__isnull=raised)
    if mine.update(hand_at=timezone.now() if raised else None):
        notify.changed(participant.room_id)
