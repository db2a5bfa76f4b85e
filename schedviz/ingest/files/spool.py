"""Buffers uploaded bytes in memory and then in an encrypted temporary file.

Uploads contain Secrets. The file has no name, and its key exists only in this process's memory, so the disk reveals nothing afterwards.
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import tempfile
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

_BLOCK: Final = 16
_BUFFER: Final = 1 << 18


class Spool(io.BufferedIOBase):
    """A binary file that is written once, sequentially, and can then be read at any position. Closing deletes it."""

    def __init__(self, in_memory: int) -> None:
        #: The most bytes in memory.
        self._in_memory = in_memory
        self._file: BinaryIO | io.BufferedRandom = io.BytesIO()

    def write(self, data: Any) -> int:
        """Append bytes."""
        if isinstance(self._file, io.BytesIO) and self._file.tell() + len(data) > self._in_memory:
            memory, self._file = self._file, io.BufferedRandom(_EncryptedFile(), _BUFFER)
            self._file.write(memory.getbuffer())
        return self._file.write(data)

    def read(self, size: int | None = -1) -> bytes:
        return self._file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        """Free memory and disk."""
        # What is still buffered is not needed, whether or not the disk has space for it.
        with contextlib.suppress(OSError):
            self._file.close()
        super().close()


class _EncryptedFile(io.RawIOBase):
    """An unnamed temporary file in AES-256-CTR, readable from any position.

    It is only appended to, so no part of the key stream is used twice. No other process can write to it, so it is not authenticated.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 -- `close` closes it.
        self._key = secrets.token_bytes(32)
        self._size = 0
        self._position = 0
        self._writer = self._stream(0)
        self._reader = self._stream(0)
        self._reader_at = 0

    def write(self, data: Any) -> int:
        if self._position != self._size:
            raise io.UnsupportedOperation("A spool can only be appended to.")
        sealed = memoryview(self._writer.update(bytes(data)))
        self._file.seek(0, os.SEEK_END)
        done = 0
        while done < len(sealed):
            done += self._file.write(sealed[done:])
        self._size += done
        self._position = self._size
        return done

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._position)
        sealed = self._file.read(len(buffer))
        if self._reader_at != self._position:
            self._reader = self._stream(self._position)
        buffer[: len(sealed)] = self._reader.update(sealed)
        self._position += len(sealed)
        self._reader_at = self._position
        return len(sealed)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def _stream(self, position: int) -> CipherContext:
        """The key stream from a position. The key is used only for this file, so the counter can begin at 0."""
        # Imported here because commands that spool nothing do not need it.
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        context = Cipher(AES256(self._key), CTR((position // _BLOCK).to_bytes(16))).encryptor()
        context.update(bytes(position % _BLOCK))
        return context
