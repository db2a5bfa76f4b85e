"""Upload handlers: files of multipart bodies are kept in memory, or encrypted on disk. Django's own handlers write large files
unencrypted.
"""

from __future__ import annotations

from typing import IO, Any, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from schedviz.ingest.files.spool import Spool


class SpooledUploads(FileUploadHandler):
    """Stores each file in a `Spool`."""

    _spool: Spool | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Start a file."""
        super().new_file(*args, **kwargs)
        self._spool = Spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:  # noqa: ARG002 -- Django calls it so.
        """Append a part of the file."""
        assert self._spool is not None
        self._spool.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile[bytes]:
        """The complete file, positioned at its start."""
        assert self._spool is not None
        spool, self._spool = self._spool, None
        spool.seek(0)
        return UploadedFile(cast("IO[bytes]", spool), self.file_name, self.content_type, file_size, self.charset, self.content_type_extra)

    def upload_interrupted(self) -> None:
        """Called when the client disconnects."""
        if self._spool is not None:
            self._spool.close()
