"""Deletes sessions."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import F

from schedviz.sessions.models import (
    Checkpoint,
    CheckpointPiece,
    Chunk,
    ChunkNames,
    ChunkTally,
    Command,
    CycleDetail,
    CycleGroup,
    ExtenderAnswer,
    Observed,
    Session,
    Upload,
)
from schedviz.sessions.redis import stream
from schedviz.sessions.uploads import upload_keys


def delete_session(session_id: UUID) -> bool:
    """Delete a session and everything stored of it. Its owner is fenced. False if there is no such session."""
    if not fence(session_id):
        return False
    delete_fenced(session_id)
    return True


def fence(session_id: UUID) -> bool:
    """Begin to delete a session: nobody changes it from now on. False if there is no such session."""
    fenced = {"status": Session.Status.FAILED, "message": Session.BEING_DELETED, "lease_owner": "", "epoch": F("epoch") + 1}
    return Session.objects.filter(pk=session_id).update(**fenced) == 1


def delete_fenced(session_id: UUID) -> None:
    """Delete everything stored of a fenced session.

    The largest tables are deleted first, in small transactions, so that no other session waits for the database.
    """
    _detach_forks(session_id)
    stream.wake(session_id)
    for rows, at_once in (
        (Upload.objects.filter(session_id=session_id), 4),
        (CheckpointPiece.objects.filter(checkpoint__session_id=session_id), 4),
        (Chunk.objects.filter(session_id=session_id), 200),
        (ExtenderAnswer.objects.filter(session_id=session_id), 4),
        (ChunkTally.objects.filter(session_id=session_id), 500),
        (ChunkNames.objects.filter(session_id=session_id), 500),
        (CycleGroup.objects.filter(session_id=session_id), 500),
        (Command.objects.filter(session_id=session_id), 500),
        (CycleDetail.objects.filter(session_id=session_id), 50),
        (Observed.objects.filter(session_id=session_id), 500),
    ):
        while some := list(rows.values_list("pk", flat=True)[:at_once]):
            rows.model.objects.filter(pk__in=some).delete()
    with transaction.atomic():
        # Nothing that refers to the session, such as a fork, is added meanwhile.
        Session.objects.select_for_update().only("pk").filter(pk=session_id).first()
        # Nor is a part of a checkpoint that its worker is saving.
        list(Checkpoint.objects.select_for_update().only("pk").filter(session_id=session_id))
        _detach_forks(session_id)
        Session.objects.filter(pk=session_id).delete()
    upload_keys.delete_key(session_id)
    stream.delete_keys(session_id)


def _detach_forks(session_id: UUID) -> None:
    """Forks keep only their own history, from the fork on."""
    Session.objects.filter(origin_id=session_id).update(origin=None, forked_from=None)
