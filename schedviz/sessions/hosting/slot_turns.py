"""Which session takes a free slot: first one of the sender with the fewest slots, so that no user's many sessions keep others waiting.

The broker's queue has one task for each waiting session, in order of arrival. A sender may have hundreds of them in front of another's one.
"""

from __future__ import annotations

import random
from collections import Counter
from uuid import UUID

from django.db.models import F

from schedviz.sessions import senders
from schedviz.sessions.hosting.lease import BACKOFF_OWNER, FREE
from schedviz.sessions.hosting.slots import SLOTS
from schedviz.sessions.models import Session


def next_session(session_id: UUID) -> UUID:
    """The session to host in place of the one that a task names: the same one, unless sessions of a sender with fewer slots wait.

    Slots of all workers count. Of such sessions, a random one is next: the task of each is in the queue, too.
    """
    if not SLOTS.are_waited_for:
        return session_id
    waiting = dict(
        Session.objects.filter(FREE, status__in=Session.OPEN_STATUSES, applied_seq__lt=F("last_seq")).values_list("pk", "owner_id")
    )
    owners = set(waiting.values())
    # Another worker may have hosted it meanwhile.
    if session_id not in waiting or len(owners) <= 1:
        return session_id
    taken = senders.totals_by_sender(_hosted_by_owner(), owners)
    fewest = min(taken.values())
    if taken[waiting[session_id]] == fewest:
        return session_id
    return random.choice([pk for pk, owner_id in waiting.items() if taken[owner_id] == fewest])  # noqa: S311 -- no secret.  # nosec B311


def _hosted_by_owner() -> Counter[int | None]:
    """How many sessions of each owner are hosted, by all workers."""
    hosted = Session.objects.filter(status__in=Session.OPEN_STATUSES).exclude(FREE).exclude(lease_owner=BACKOFF_OWNER)
    return Counter(hosted.values_list("owner_id", flat=True))
