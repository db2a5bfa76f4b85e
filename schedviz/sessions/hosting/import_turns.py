"""Leaves io processes free: the imports of one user do not occupy all of them, so that questions and other users' imports are served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from schedviz.sessions import quotas
from schedviz.sessions.hosting.lease import FREE
from schedviz.sessions.models import Session
from schedviz.sessions.queries.database import wait_for_lock

#: Imports that can take minutes: of files, and of trials of experiments, whose `source` has `files`, too. Forks and generated clusters
#: are short.
_OF_FILES: Final = Q(source__has_key="files")
_LONG: Final = Q(status=Session.Status.IMPORTING) & _OF_FILES
#: PostgreSQL's number of the lock that is held while a turn is taken.
_LOCK: Final = 0x5CED_1002
#: Whether the waiting imports of the last sweep are of files. A `source` does not change, and has up to thousands of names, which a sweep
#: twice a second need not read.
_known: dict[UUID, bool] = {}


def is_turn_of(session_id: UUID) -> bool:
    """Whether an import may begin now. Call it in the transaction that takes the lease: no other import begins before it ends."""
    if not settings.IMPORTS_PER_USER:
        return True
    row = Session.objects.filter(_LONG, pk=session_id).values_list("owner_id").first()
    if row is None:
        return True
    wait_for_lock(_LOCK)
    return _running()[quotas.user_of_turns(row[0])] < settings.IMPORTS_PER_USER


def are_of_files(waiting: Collection[UUID]) -> dict[UUID, bool]:
    """Whether each of the waiting imports is of files. Queries the database for those that were not waiting at the last call."""
    new = [session_id for session_id in waiting if session_id not in _known]
    of_files = set(Session.objects.filter(_OF_FILES, pk__in=new).values_list("pk", flat=True)) if new else set()
    result = {session_id: _known.get(session_id, session_id in of_files) for session_id in waiting}
    _known.clear()
    _known.update(result)
    return result


def may_begin(waiting: Sequence[tuple[UUID, int | None, bool]]) -> list[UUID]:
    """Those of the waiting imports, in order, which may begin now: (session, owner, whether it is of files)."""
    limit = settings.IMPORTS_PER_USER
    if not limit or not any(is_of_files for _, _, is_of_files in waiting):
        return [session_id for session_id, _, _ in waiting]
    begun, result = _running(), []
    for session_id, owner_id, is_of_files in waiting:
        if is_of_files:
            user = quotas.user_of_turns(owner_id)
            if begun[user] >= limit:
                continue
            begun[user] += 1
        result.append(session_id)
    return result


def _running() -> Counter[int | str | None]:
    """The number of long imports that run, by user."""
    return Counter(quotas.user_of_turns(owner_id) for (owner_id,) in Session.objects.filter(_LONG).exclude(FREE).values_list("owner_id"))
