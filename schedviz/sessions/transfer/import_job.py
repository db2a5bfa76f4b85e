"""Runs the import of a session in an io worker: takes the lease and selects the importer for files, a `.schedviz` file or a fork."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import DatabaseError, DataError

from schedviz.ingest.session_file import looks_like_session
from schedviz.sessions import disk
from schedviz.sessions.errors import Fenced
from schedviz.sessions.forks.builder import ForkBuilder
from schedviz.sessions.hosting import import_turns, lease
from schedviz.sessions.hosting.lease import LEASE_RENEWER, Lease
from schedviz.sessions.hosting.watchdog import interpreter_lock_limit
from schedviz.sessions.models import Session
from schedviz.sessions.redis import stream
from schedviz.sessions.transfer.importer import Importer
from schedviz.sessions.transfer.session_file_import import SessionFileImport
from schedviz.sessions.uploads.stored_files import StoredFiles
from schedviz.sessions.uploads.upload_keys import KeyAwaited, KeyLost, KeysUnavailable

logger = logging.getLogger(__name__)

#: Reading this much of a file shows whether it is a `.schedviz` file.
_HEAD_BYTES = 4096


def run_import(session_id: UUID) -> None:
    """Import a session's uploads or generated cluster, or build its fork. Does nothing if it is done, another worker is doing it, other
    imports of the user have the turn, or the key of the uploads is awaited: the sweeper then tries again.
    """
    stream.task_has_begun(session_id)
    files = StoredFiles(session_id)
    try:
        files.find_key()
    except (KeyAwaited, KeysUnavailable) as error:
        logger.info("left the import of session %s: %s", session_id, error)
        return
    except KeyLost as lost:
        _fail(session_id, str(lost))
        return
    acquired = lease.acquire(session_id, importing=True, admits=import_turns.is_turn_of)
    if acquired is None:
        return
    own_lease, session = acquired
    LEASE_RENEWER.hold(own_lease)
    try:
        with interpreter_lock_limit():
            _import_of(own_lease, session, files).run()
    except Fenced as fenced:
        logger.info("left the import of session %s: %s", session_id, fenced)
    except DataError:
        # The file is at fault, not the database, so another attempt would fail in the same way.
        Importer(own_lease, session).fail(
            "The files hold text that the database cannot store, such as U+0000. Remove it and upload them again."
        )
    except DatabaseError as error:
        logger.warning("left the import of session %s, the database failed: %s %s", session_id, disk.full_disk(error) or "", error)
    finally:
        LEASE_RENEWER.drop(own_lease)


def _fail(session_id: UUID, message: str) -> None:
    """Fail an import that has not begun. It needs no turn."""
    acquired = lease.acquire(session_id, importing=True)
    if acquired is None:
        return
    try:
        Importer(*acquired).fail(message)
    except Fenced as fenced:
        logger.info("left the import of session %s: %s", session_id, fenced)


def _import_of(own_lease: Lease, session: Session, files: StoredFiles) -> Importer:
    if "fork" in session.source:
        return ForkBuilder(own_lease, session)
    if looks_like_session(files.head()[:_HEAD_BYTES]) and len(session.source.get("files", ())) == 1:
        return SessionFileImport(own_lease, session, files)
    return Importer(own_lease, session, files)
