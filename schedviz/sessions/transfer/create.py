"""Creates sessions: stores their source and has an io worker import it, or cancels the import. `deletion.py` deletes sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import msgspec
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models.functions import Now

from schedviz.ingest.errors import ImportCancelled, IngestError
from schedviz.ingest.limits import Limits
from schedviz.ingest.session_file import looks_like_session, validate_head
from schedviz.sessions import frames, quotas
from schedviz.sessions.errors import SourceRefused, SourceTooLarge
from schedviz.sessions.models import (
    Session,
    Upload,
)
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.uploads import upload_keys
from schedviz.sessions.uploads.encryption import OVERHEAD_BYTES, UploadCipher
from schedviz.sessions.uploads.stored_files import new_cipher

#: A row holds one megabyte, encrypted.
UPLOAD_CHUNK_BYTES = (1 << 20) - OVERHEAD_BYTES
_CHUNKS_PER_TRANSACTION = 4


class IncomingFile(Protocol):
    """An uploaded file, such as Django's UploadedFile."""

    @property
    def name(self) -> str | None: ...

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]: ...


class Files(msgspec.Struct, frozen=True):
    """Files in any format that `ingest` reads."""

    files: Iterable[IncomingFile]
    #: The release to simulate if neither the settings nor the files select one; "": the default of sessions.
    release_without_version: str = ""


class Generate(msgspec.Struct, frozen=True):
    """A generated cluster, by the parameters of `ingest`'s generator."""

    parameters: dict[str, Any]


class Trace(msgspec.Struct, frozen=True):
    """A schedviz-trace/1 document, whose steps become the session's commands."""

    document: dict[str, Any]


class LessonCluster(msgspec.Struct, frozen=True):
    """The cluster of a lesson before its first stop."""

    lesson: str
    objects: list[dict[str, Any]]
    #: From the lesson's files at the time of creation.
    version: str = ""


Source = Files | Generate | Trace | LessonCluster


def create_session(
    owner: AbstractBaseUser | None,
    name: str,
    source: Source,
    *,
    simulation: dict[str, Any] | None = None,
    calls_extenders: bool = False,
) -> Session:
    """Create a session with status `importing`; an io worker runs the import.

    `simulation` are members of the engine's SimulationSettings. `calls_extenders`: the owner requested it and is allowed to. Raises
    `SourceTooLarge` for too many files or bytes, `SourceRefused` for unreadable files, and `QuotaReached`.
    """
    owner_id = owner.pk if owner else None
    session = Session(owner_id=owner_id, name=name[:200], settings=simulation or {}, calls_extenders=calls_extenders)
    if isinstance(source, Generate):
        # Nothing follows: a web server that dies now leaves a session that the sweeper imports.
        session.source, session.uploaded, session.progress = {"generate": source.parameters}, True, waiting_progress()
    with quotas.creating_session(owner_id):
        session.save(force_insert=True)
    if isinstance(source, Generate):
        wakeups.notify_import(session.pk)
        return session
    try:
        session.source = _store(session.pk, source, partial(quotas.require_bytes, owner_id))
    except BaseException:
        session.delete()
        upload_keys.delete_key(session.pk)
        raise
    session.uploaded = True
    session.progress = waiting_progress()
    session.save(update_fields=["source", "uploaded", "progress", "updated_at"])
    wakeups.notify_import(session.pk)
    return session


def waiting_progress() -> dict[str, Any]:
    """The progress of an import that no worker has begun."""
    return {"phase": "waiting", "done": 0, "total": None, "unit": ""}


def cancel_import(session_id: UUID) -> bool:
    """Request the cancellation of an import; False if none is running. One that no worker has begun ends at once."""
    importing = Session.objects.filter(pk=session_id, status=Session.Status.IMPORTING)
    if not importing.filter(epoch=0, uploaded=True).update(status=Session.Status.FAILED, message=str(ImportCancelled()), progress=None):
        return importing.update(cancel_requested=True) == 1
    Upload.objects.filter(session_id=session_id).delete()
    upload_keys.delete_key(session_id)
    stream.publish(session_id, [], [frames.status(frames.session_state(Session.objects.get(pk=session_id)))])
    return True


def _without_quota(_size: int) -> None:
    pass


def _store(session_id: UUID, source: Files | Trace | LessonCluster, require_bytes: Callable[[int], None]) -> dict[str, Any]:
    cipher = new_cipher(session_id)
    if isinstance(source, Trace):
        name = str(source.document.get("name") or "trace")
        store_upload(session_id, cipher, f"{name[:200]}.json", iter([msgspec.json.encode(source.document)]), require_bytes=require_bytes)
        return {"trace": name[:200]}
    if isinstance(source, LessonCluster):
        listed = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": source.objects})
        store_upload(session_id, cipher, f"{source.lesson}.json", iter([listed]), require_bytes=require_bytes)
        return {"lesson": source.lesson, "lessonVersion": source.version}
    names: list[str] = []
    remaining_bytes = settings.UPLOAD_BYTES
    for number, file in enumerate(source.files):
        if number >= settings.UPLOAD_FILES:
            limit = f"SCHEDVIZ_UPLOAD_FILES allows {settings.UPLOAD_FILES:,} files in one import"
            raise SourceTooLarge(f"Too many files: {limit}. Put the objects in one List.")
        name = (file.name or f"file-{number + 1}")[-255:]
        chunks = file.chunks(UPLOAD_CHUNK_BYTES)
        remaining_bytes -= store_upload(
            session_id, cipher, name, chunks, file=number, remaining_bytes=remaining_bytes, require_bytes=require_bytes
        )
        names.append(name)
    if not names:
        raise SourceRefused("No file was sent; expected one or more in the multipart field `file`.")
    return {"files": names, **({"releaseWithoutVersion": source.release_without_version} if source.release_without_version else {})}


def store_upload(
    session_id: UUID,
    cipher: UploadCipher,
    name: str,
    chunks: Iterator[bytes],
    *,
    file: int = 0,
    remaining_bytes: int | None = None,
    require_bytes: Callable[[int], None] = _without_quota,
) -> int:
    """Store one file, encrypted; returns its size in bytes. `require_bytes` is called before bytes are stored, and may raise."""
    size = 0
    remaining_bytes = settings.UPLOAD_BYTES if remaining_bytes is None else remaining_bytes
    waiting: list[Upload] = []
    for number, data in enumerate(_resized(chunks)):
        size += len(data)
        if number == 0:
            _require_readable(name, data)
        if size > remaining_bytes:
            limit = f"SCHEDVIZ_UPLOAD_BYTES allows {settings.UPLOAD_BYTES:,} bytes for all files of one import"
            raise SourceTooLarge(f"{name}: the files are too large: {limit}.")
        encrypted = cipher.encrypt(data, file, number)
        waiting.append(Upload(session_id=session_id, file=file, name=name, number=number, data=encrypted, sealed=True))
        if len(waiting) == _CHUNKS_PER_TRANSACTION:
            _store_chunks(session_id, waiting, require_bytes)
            waiting = []
    _store_chunks(session_id, waiting, require_bytes)
    return size


def _store_chunks(session_id: UUID, chunks: list[Upload], require_bytes: Callable[[int], None]) -> None:
    require_bytes(sum(len(chunk.data) for chunk in chunks))
    Upload.objects.bulk_create(chunks)
    # The sweeper deletes uploads that make no progress.
    Session.objects.filter(pk=session_id).update(updated_at=Now())


def _require_readable(name: str, first: bytes) -> None:
    """Refuse a `.schedviz` file of an unsupported version, or with more content than is read, at its first bytes."""
    if looks_like_session(first):
        try:
            validate_head(name, first, Limits(unpacked_bytes=settings.IMPORT_UNPACKED_BYTES))
        except IngestError as error:
            raise SourceRefused(str(error)) from error


def _resized(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes in chunks of `UPLOAD_CHUNK_BYTES`; one empty chunk for an empty file."""
    buffer = bytearray()
    empty = True
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= UPLOAD_CHUNK_BYTES:
            yield bytes(buffer[:UPLOAD_CHUNK_BYTES])
            del buffer[:UPLOAD_CHUNK_BYTES]
            empty = False
    if buffer or empty:
        yield bytes(buffer)
