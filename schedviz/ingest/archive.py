"""Archives: the files in a tar or a zip, one after another, without anything being written to disk under their names."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Final, NamedTuple

from schedviz.ingest.errors import LimitExceeded, UnreadableFile
from schedviz.ingest.limits import Limits
from schedviz.ingest.source import is_of_use, shown_name

_TAR_MAGIC_AT: Final = 257
_ZIP: Final = b"PK\x03\x04"
_IN_MEMORY: Final = 8 << 20
_PIECE: Final = 1 << 20


class Member(NamedTuple):
    """A file of an archive: its bytes, or why it is left out."""

    name: str
    data: bytes
    left_out: str = ""


def is_tar(head: bytes) -> bool:
    """Whether an unpacked file begins as a tar does."""
    return head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar"


def is_zip(head: bytes) -> bool:
    """Whether a file begins as a zip does."""
    return head.startswith(_ZIP)


def tar_members(name: str, pieces: Iterator[bytes], limits: Limits, room: Callable[[], int]) -> Iterator[Member]:
    """The files of a tar, in order; `room` is how many bytes may still be read. Raises `UnreadableFile` and `LimitExceeded`."""
    stream = _Stream(name, pieces, limits)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]  # it reads, and that is all that is asked
            for number, info in enumerate(archive):
                _check_number(name, number, limits)
                why = _why_tar_member_is_left_out(info)
                if why or not info.isfile() or not is_of_use(info.name):
                    if why:
                        yield Member(shown_name(info.name), b"", why)
                    continue
                if info.size > room():
                    raise LimitExceeded(
                        f"{name}: {shown_name(info.name)}", "unpacked, the files are too large", "unpacked_bytes", limits.unpacked_bytes
                    )
                file = archive.extractfile(info)
                yield Member(shown_name(info.name), file.read() if file is not None else b"")
    except (tarfile.TarError, EOFError) as error:
        raise UnreadableFile(f"{name}: the archive is damaged or cut short ({error}); fetch it again.") from None


def zip_members(name: str, pieces: Iterator[bytes], limits: Limits, room: Callable[[], int]) -> Iterator[Member]:
    """The files of a zip, in order. Raises as `tar_members`."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > limits.unpacked_bytes:
                raise LimitExceeded(name, "the archive is too large", "unpacked_bytes", limits.unpacked_bytes)
            file.write(piece)
        try:
            with zipfile.ZipFile(file) as archive:
                for number, info in enumerate(archive.infolist()):
                    _check_number(name, number, limits)
                    yield from _zip_member(name, archive, info, limits, room())
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, UnicodeError) as error:
            raise UnreadableFile(f"{name}: the archive is damaged, or packed in a way that is not read ({error}).") from None


def _zip_member(name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: Limits, room: int) -> Iterator[Member]:
    shown = shown_name(info.filename)
    is_link = info.external_attr >> 28 == 0xA
    why = "it is a link" if is_link else _why_name_is_left_out(info.filename)
    if why:
        yield Member(shown, b"", why)
    elif not info.is_dir() and is_of_use(info.filename):
        with archive.open(info) as file:
            data = _read(file, room)
        if data is None:
            raise LimitExceeded(f"{name}: {shown}", "unpacked, the files are too large", "unpacked_bytes", limits.unpacked_bytes)
        yield Member(shown, data)


def _read(file: IO[bytes], room: int) -> bytes | None:
    """All of a file; None where it has more than `room` bytes, whatever its head says."""
    data = io.BytesIO()
    while piece := file.read(_PIECE):
        data.write(piece)
        if data.tell() > room:
            return None
    return data.getvalue()


def _why_tar_member_is_left_out(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return "it is a link"
    if not info.isfile() and not info.isdir():
        return "it is a device, a pipe or the like"
    return _why_name_is_left_out(info.name)


def _why_name_is_left_out(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if ".." in parts:
        return "its name leads out of the archive (..)"
    return "its name begins at the root" if path.startswith(("/", "\\")) else ""


def _check_number(name: str, number: int, limits: Limits) -> None:
    if number >= limits.archive_members:
        raise LimitExceeded(name, "there are too many files in the archive", "archive_members", limits.archive_members)


class _Stream:
    """Pieces as something that `tarfile` can read, and no more of them than an archive may have."""

    def __init__(self, name: str, pieces: Iterator[bytes], limits: Limits) -> None:
        self._name = name
        self._pieces = pieces
        self._limit = limits.archive_bytes
        self._waiting = b""
        self._size = 0

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        parts, wanted = [], size
        while wanted > 0:
            if not self._waiting:
                self._waiting = next(self._pieces, b"")
                self._size += len(self._waiting)
                if self._size > self._limit:
                    raise LimitExceeded(self._name, "unpacked, the archive is too large", "archive_bytes", self._limit)
                if not self._waiting:
                    break
            part, self._waiting = self._waiting[:wanted], self._waiting[wanted:]
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)
