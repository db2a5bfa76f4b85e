"""The live state of participants: connected, following, hand raised. Each web process renews the connections that it holds, so that those
of a crashed process expire.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from django.utils import timezone

from schedviz.web.rooms import notify
from schedviz.web.rooms.models import Participant

RENEW_SECONDS: Final = 15.0
_TTL_SECONDS: Final = 40.0


def renew(participants: Iterable[int]) -> None:
    """Renew the presence of participants."""
    if ids := list(participants):
        Participant.objects.filter(pk__in=ids).update(here_until=time.time() + _TTL_SECONDS)


def connected(participant_id: int) -> None:
    """A participant has connected."""
    participant = Participant.objects.filter(pk=participant_id).only("room_id", "here_until").first()
    if participant is None:
        return
    was_present = participant.here_until > time.time()
    renew([participant_id])
    if not was_present:
        notify.changed(participant.room_id)


def disconnected(participant_id: int) -> None:
    """The last connection of a participant has closed."""
    participant = Participant.objects.filter(pk=participant_id).only("room_id").first()
    if participant is not None and Participant.objects.filter(pk=participant_id).update(here_until=0.0):
        notify.changed(participant.room_id)


def follow(participant_id: int, *, following: bool) -> None:
    """A participant started or stopped following the teacher."""
    participant = Participant.objects.filter(pk=participant_id).exclude(following=following).only("room_id").first()
    if participant is not None:
        Participant.objects.filter(pk=participant_id).update(following=following)
        notify.changed(participant.room_id)


def raise_hand(participant: Participant, *, raised: bool) -> None:
    """Raise or lower a hand. A raised hand keeps its place in the order."""
    own_row = Participant.objects.filter(pk=participant.pk, hand_at__isnull=raised)
    if own_row.update(hand_at=timezone.now() if raised else None):
        notify.changed(participant.room_id)
