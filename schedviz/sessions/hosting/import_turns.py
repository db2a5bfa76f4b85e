"""Leaves io processes free: the imports of files of one user, or all imports of visitors of the demo, do not occupy all of them, so that
questions and others' imports are served.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, Q

from schedviz.sessions.hosting.lease import FREE
from schedviz.sessions.models import Session
from schedviz.sessions.queries.database import wait_for_lock
from schedviz.sessions.senders import VISITORS, SenderGroup, sender_groups_of_users

#: Imports that can take minutes: of files, and of trials of experiments, whose `source` has `files`, too. Forks and generated clusters
#: are short, but visitors of the demo may begin many of them.
_IS_OF_FILES: Final = Q(source__has_key="files")
_IS_IMPORTING: Final = Q(status=Session.Status.IMPORTING)
#: PostgreSQL's number of the lock that is held while a turn is taken.
_LOCK: Final = 0x5CED_1002
#: Whether the waiting imports of the last sweep are of files. A `source` does not change, and has up to thousands of names, which a sweep
#: twice a second need not read.
_known: dict[UUID, bool] = {}


def is_turn_of(session_id: UUID) -> bool:
    """Whether an import may begin now. Call it in the transaction that takes the lease: no other import begins before it ends."""
    if not settings.IMPORTS_PER_USER:
        return True
    importing = Session.objects.filter(_IS_IMPORTING, pk=session_id)
    row = importing.values_list("owner_id").first()
    if row is None:
        return True
    sender_group = sender_groups_of_users([row[0]])[row[0]]
    is_of_files = importing.filter(_IS_OF_FILES).exists()
    if not _needs_turn(sender_group, is_of_files=is_of_files):
        return True
    wait_for_lock(_LOCK)
    return _Running().admits(sender_group, is_of_files=is_of_files)


def _needs_turn(sender_group: SenderGroup, *, is_of_files: bool) -> bool:
    return is_of_files or sender_group.group == VISITORS


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
    everything = [session_id for session_id, _, _ in waiting]
    if not settings.IMPORTS_PER_USER or not waiting:
        return everything
    group_of_owner = sender_groups_of_users({owner_id for _, owner_id, _ in waiting})
    lots = {key: random.random() for owner_id, group in group_of_owner.items() if group.group for key in (group.sender, owner_id)}  # noqa: S311 -- no secret.  # nosec B311
    in_turn = [
        (session_id, owner_id, is_of_files)
        for session_id, owner_id, is_of_files in waiting
        if _needs_turn(group_of_owner[owner_id], is_of_files=is_of_files)
    ]
    if not in_turn:
        return everything
    in_turn.sort(key=lambda one: (lots.get(group_of_owner[one[1]].sender, 0.0), lots.get(one[1], 0.0)))
    running = _Running()
    refused = {
        session_id for session_id, owner_id, is_of_files in in_turn if not running.begin(group_of_owner[owner_id], is_of_files=is_of_files)
    }
    return [session_id for session_id in everything if session_id not in refused]


class _Running:
    """The imports that run and take turns, by sender and by group."""

    def __init__(self) -> None:
        importing = Session.objects.filter(_IS_IMPORTING).exclude(FREE)
        running = list(
            importing.annotate(is_of_files=ExpressionWrapper(_IS_OF_FILES, BooleanField())).values_list("owner_id", "is_of_files")
        )
        group_of_owner = sender_groups_of_users({owner_id for owner_id, _ in running})
        self._senders: Counter[str] = Counter()
        self._groups: Counter[str] = Counter()
        for owner_id, is_of_files in running:
            if _needs_turn(group_of_owner[owner_id], is_of_files=is_of_files):
                self._count(group_of_owner[owner_id], is_of_files=is_of_files)

    def admits(self, sender_group: SenderGroup, *, is_of_files: bool) -> bool:
        """Whether one more may begin."""
        if is_of_files and self._senders[sender_group.sender] >= settings.IMPORTS_PER_USER:
            return False
        return not sender_group.group or self._groups[sender_group.group] < max(settings.DEMO_IMPORTS, settings.IMPORTS_PER_USER)

    def begin(self, sender_group: SenderGroup, *, is_of_files: bool) -> bool:
        """Count one more if it may begin; returns whether it may."""
        if not self.admits(sender_group, is_of_files=is_of_files):
            return False
        self._count(sender_group, is_of_files=is_of_files)
        return True

    def _count(self, sender_group: SenderGroup, *, is_of_files: bool) -> None:
        # A class shares an address, so the short ones count for all visitors together only.
        self._senders[sender_group.sender] += is_of_files
        self._groups[sender_group.group] += 1
