"""The uploaded files of a session, as encrypted rows between the web server that receives them and the worker that imports them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property, partial
from uuid import UUID

from django.db.models import Count, Sum
from django.db.models.functions import Length

from schedviz.ingest.files.source import Source
from schedviz.sessions.models import Upload
from schedviz.sessions.queries.keyset import read_in_batches
from schedviz.sessions.uploads import upload_keys
from schedviz.sessions.uploads.encryption import OVERHEAD_BYTES, UploadCipher


def new_cipher(session_id: UUID) -> UploadCipher:
    """A new cipher for the files of a stored session."""
    return UploadCipher(upload_keys.make(session_id), session_id)


def missing_keys(session_ids: Collection[UUID]) -> dict[UUID, bool]:
    """Those sessions whose files cannot be decrypted, because Redis lacks their keys, each with whether its key is lost."""
    missing = upload_keys.missing(session_ids)
    if not missing:
        return {}
    encrypted = set(Upload.objects.filter(session_id__in=missing, sealed=True).values_list("session_id", flat=True).distinct())
    return {session_id: is_lost for session_id, is_lost in missing.items() if session_id in encrypted}


class StoredFiles:
    """The files of one session, decrypted while they are read. Those of versions before encryption are read as they are."""

    def __init__(self, session_id: UUID) -> None:
        self._session_id = session_id
        self._rows = Upload.objects.filter(session_id=session_id)

    @cached_property
    def stored_bytes(self) -> int:
        """The size of all files in the database, for which quotas count them."""
        return self._rows.order_by().aggregate(size=Sum(Length("data")))["size"] or 0

    def sources(self) -> list[Source]:
        """All files, in order."""
        sums = self._rows.order_by().values_list("file").annotate(size=Sum(Length("data")), chunks=Count("pk"))
        sizes = {file: size - (OVERHEAD_BYTES * chunks if self._cipher else 0) for file, size, chunks in sums}
        named = self._rows.filter(number=0).order_by("file").values_list("file", "name")
        return [Source(name=name, pieces=partial(self.chunks_of, file), size=sizes[file]) for file, name in named]

    def chunks_of(self, file: int) -> Iterator[bytes]:
        """The bytes of one file."""
        for number, data in read_in_batches(self._rows.filter(file=file), "number", "data", batch_size=4):
            yield self._decrypted(bytes(data), file, number)

    def find_key(self) -> None:
        """Raises `KeyAwaited`, `KeyLost` or `KeysUnavailable` if the files are encrypted and cannot be decrypted now."""
        self._cipher  # noqa: B018 -- it is cached.

    def head(self) -> bytes:
        """The first chunk of the first file. Raises as `find_key`."""
        first = self._rows.filter(file=0, number=0).values_list("data", flat=True).first()
        return b"" if first is None else self._decrypted(bytes(first), 0, 0)

    @cached_property
    def _cipher(self) -> UploadCipher | None:
        if not self._rows.filter(sealed=True).exists():
            return None
        return UploadCipher(upload_keys.find(self._session_id), self._session_id)

    def _decrypted(self, data: bytes, file: int, number: int) -> bytes:
        return data if self._cipher is None else self._cipher.decrypt(data, file, number)
