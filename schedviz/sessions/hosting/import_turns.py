"""Leaves io processes free: the imports of one user, or of visitors of the demo, do not occupy all of them, so that questions and others'
imports are served.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from schedviz.sessions.hosting.lease import FREE
from schedviz.sessions.models import Session
from schedviz.sessions.queries.database import wait_for_lock
from schedviz.sessions.senders import SenderGroup, sender_groups_of_users

#: Imports that can take minutes: of files, and of trials of experiments, whose `source` has `files`, too. Forks and generated clusters
#: are short.
_IS_OF_FILES: Final = Q(source__has_key="files")
_IS_LONG: Final = Q(status=Session.Status.IMPORTING) & _IS_OF_FILES
#: PostgreSQL's number of the lock that is held while a turn is taken.
_LOCK: Final = 0x5CED_1002
#: Whether the waiting imports of the last sweep are of files. A `source` does not change, and has up to thousands of names, which a sweep
#: twice a second need not read.
_known: dict[UUID, bool] = {}


def is_turn_of(session_id: UUID) -> bool:
    """Whether an import may begin now. Call it in the transaction that takes the lease: no other import begins before it ends."""
    if not settings.IMPORTS_PER_USER:
        return True
    row = Session.objects.filter(_IS_LONG, pk=session_id).values_list("owner_id").first()
    if row is None:
        return True
    wait_for_lock(_LOCK)
    return _Running().admits(sender_groups_of_users([row[0]])[row[0]])


def are_of_files(waiting: Collection[UUID]) -> dict[UUID, bool]:
    """Whether each of the waiting imports is of files. Queries the database for those that were not waiting at the last call."""
    new = [session_id for session_id in waiting if session_id not in _known]
    of_files = set(Session.objects.filter(_IS_OF_FILES, pk__in=new).values_list("pk", flat=True)) if new else set()
    result = {session_id: _known.get(session_id, session_id in of_files) for session_id in waiting}
    _known.clear()
    _known.update(result)
    return result


def may_begin(waiting: Sequence[tuple[UUID, int | None, bool]]) -> list[UUID]:
    """Those of the waiting imports, in order, which may begin now: (session, owner, whether it is of files).

    Visitors of the demo are served in random order, first by address and then by visitor: neither many imports nor many visitors of one
    address get ahead of others.
    """
    if not settings.IMPORTS_PER_USER or not any(is_of_files for _, _, is_of_files in waiting):
        return [session_id for session_id, _, _ in waiting]
    group_of_owner = sender_groups_of_users({owner_id for _, owner_id, is_of_files in waiting if is_of_files})
    lots = {key: random.random() for owner_id, group in group_of_owner.items() if group.group for key in (group.sender, owner_id)}  # noqa: S311 -- no secret.  # nosec B311
    of_files = [(session_id, owner_id) for session_id, owner_id, is_of_files in waiting if is_of_files]
    of_files.sort(key=lambda one: (lots.get(group_of_owner[one[1]].sender, 0.0), lots.get(one[1], 0.0)))
    running = _Running()
    begun = {session_id for session_id, owner_id in of_files if running.begin(group_of_owner[owner_id])}
    return [session_id for session_id, _, is_of_files in waiting if not is_of_files or session_id in begun]


class _Running:
    """The long imports that run, by sender and by group."""

    def __init__(self) -> None:
        owners = [owner_id for (owner_id,) in Session.objects.filter(_IS_LONG).exclude(FREE).values_list("owner_id")]
        group_of_owner = sender_groups_of_users(set(owners))
        self._senders = Counter(group_of_owner[owner_id].sender for owner_id in owners)
        self._groups = Counter(group_of_owner[owner_id].group for owner_id in owners)

    def admits(self, sender_group: SenderGroup) -> bool:
        """Whether one more may begin."""
        if self._senders[sender_group.sender] >= settings.IMPORTS_PER_USER:
            return False
        return not sender_group.group or self._groups[sender_group.group] < max(settings.DEMO_IMPORTS, settings.IMPORTS_PER_USER)

    def begin(self, sender_group: SenderGroup) -> bool:
        """Count one more if it may begin; returns whether it may."""
        if not self.admits(sender_group):
            return False
        self._senders[sender_group.sender] += 1
        self._groups[sender_group.group] += 1
        return True
