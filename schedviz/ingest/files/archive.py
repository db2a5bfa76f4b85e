"""Reads the files in a tar or zip archive one after another, without writing them to disk under their names."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Final, NamedTuple, Self

from schedviz.ingest.errors import LimitExceeded, UnreadableFile
from schedviz.ingest.files.budget import Budget, too_many_members
from schedviz.ingest.files.source import may_be_of_use, shown_name
from schedviz.ingest.files.spool import Spool
from schedviz.ingest.limits import Limits

_TAR_MAGIC_OFFSET: Final = 257
_ZIP: Final = b"PK\x03\x04"
_MEMORY_BYTES: Final = 8 << 20
_PIECE_BYTES: Final = 1 << 20
#: The longest directory entry of one file in a zip, including its name.
_ENTRY_BYTES: Final = 256
_LINK: Final = 0xA
#: The longest extended header in a tar. A long name takes some hundred bytes.
_HEADER_BYTES: Final = 16 * 1024
_EXTENDED_HEADERS: Final = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_DAMAGED_ZIP: Final = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, UnicodeError)


class Member(NamedTuple):
    """A file of an archive: its bytes, which can be read twice, or the reason why it is left out."""

    name: str
    pieces: Callable[[], Iterator[bytes]]
    size: int = 0
    left_out: str = ""


def is_tar(head: bytes) -> bool:
    """Whether the beginning of an uncompressed file is that of a tar."""
    return head[_TAR_MAGIC_OFFSET : _TAR_MAGIC_OFFSET + 5] == b"ustar"


def is_zip(head: bytes) -> bool:
    """Whether the beginning of a file is that of a zip."""
    return head.startswith(_ZIP)


def tar_members(name: str, pieces: Iterator[bytes], limits: Limits, budget: Budget) -> Iterator[Member]:  # noqa: ARG001 (as for a zip)
    """The files of a tar, in order. Each must be read before the next one is requested. Raises `UnreadableFile` and `BudgetExhausted`."""
    stream = _Stream(name, pieces, budget)
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedHeader) as archive:  # type: ignore[call-overload]  # it reads, no more
            for info in archive:
                budget.count_member(name)
                # Otherwise `tarfile` would keep a record of each member.
                archive.members = []
                shown = shown_name(info.name)
                if why := _why_tar_member_is_left_out(info):
                    yield Member(shown, _nothing, left_out=why)
                elif info.isfile() and may_be_of_use(info.name):
                    budget.count_opened(f"{name}: {shown}", info.size)
                    file = archive.extractfile(info)
                    yield Member(shown, _nothing if file is None else _KeptPieces(name, file), info.size)
    except (tarfile.TarError, EOFError) as error:
        raise _damaged_tar(name, error) from None


def zip_members(name: str, pieces: Iterator[bytes], limits: Limits, budget: Budget) -> Iterator[Member]:
    """The files of a zip, in order. Raises as `tar_members`, and `LimitExceeded` for a zip that is too large."""
    with Spool(_MEMORY_BYTES) as file:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > limits.unpacked_bytes:
                raise LimitExceeded(name, "the archive is too large", "unpacked_bytes", limits.unpacked_bytes)
            file.write(piece)
        try:
            with zipfile.ZipFile(bounded := _BoundedZip(name, file, limits)) as archive:
                bounded.directory_was_read = True
                wanted = list(_wanted(name, archive, budget))
                for info, why in wanted:
                    # At most its declared size is read.
                    yield Member(shown_name(info.filename), partial(_zip_pieces, name, archive, info), info.file_size, why)
        except _DAMAGED_ZIP as error:
            raise _damaged_zip(name, error) from None


def _wanted(name: str, archive: zipfile.ZipFile, budget: Budget) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """The files of a zip that can be read, and those that are left out and why. All are counted before the first is read."""
    for info in archive.infolist():
        budget.count_member(name)
        is_link = info.external_attr >> 28 == _LINK
        why = "it is a link" if is_link else _why_name_is_left_out(info.filename)
        if why:
            yield info, why
        elif not info.is_dir() and may_be_of_use(info.filename):
            budget.count_opened(f"{name}: {shown_name(info.filename)}", info.file_size)
            yield info, ""


def _zip_pieces(name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(info) as file:
            while piece := file.read(_PIECE_BYTES):
                yield piece
    except _DAMAGED_ZIP as error:
        raise _damaged_zip(name, error) from None


def _damaged_tar(name: str, error: Exception) -> UnreadableFile:
    return UnreadableFile(f"{name}: the archive is damaged or cut short ({error}); fetch it again.")


def _damaged_zip(name: str, error: Exception) -> UnreadableFile:
    return UnreadableFile(f"{name}: the archive is damaged, or uses an unsupported compression method ({error}).")


def _nothing() -> Iterator[bytes]:
    return iter(())


class _BoundedZip:
    """A zip file that is refused if its central directory is too long, because `zipfile` would read it at once."""

    def __init__(self, name: str, file: Spool, limits: Limits) -> None:
        self._name = name
        self._file = file
        self._limits = limits
        #: Whether `zipfile` has read the central directory. Later reads are of members, which have limits of their own.
        self.directory_was_read = False
        self.seek = file.seek
        self.tell = file.tell

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self.directory_was_read and size > self._limits.archive_members * _ENTRY_BYTES:
            raise too_many_members(self._name, self._limits)
        return self._file.read(size)


class _KeptPieces:
    """Buffers what was read of a stream, so that it can be read again from the start."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self._name = name
        self._file = file
        self._kept: list[bytes] = []

    def __call__(self) -> Iterator[bytes]:
        yield from self._kept
        try:
            while piece := self._file.read(_PIECE_BYTES):
                self._kept.append(piece)
                yield piece
        except (tarfile.TarError, EOFError) as error:
            raise _damaged_tar(self._name, error) from None


def _why_tar_member_is_left_out(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return "it is a link"
    if not info.isfile() and not info.isdir():
        return "it is not a regular file"
    return _why_name_is_left_out(info.name)


def _why_name_is_left_out(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if ".." in parts:
        return "its path leaves the archive (..)"
    return "its path is absolute" if path.startswith(("/", "\\")) else ""


class _BoundedHeader(tarfile.TarInfo):
    """Refuses an extended header (PAX, or a long GNU name) that is too large, before `tarfile` reads it.

    `tarfile` keeps a header in memory, and before Python 3.11.10 (CVE-2024-6232) parsing it took quadratic time.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Parse the header of a member."""
        header = super().frombuf(buf, encoding, errors)
        if header.type in _EXTENDED_HEADERS and header.size > _HEADER_BYTES:
            raise tarfile.HeaderError(f"a header has {header.size:,} bytes; at most {_HEADER_BYTES:,} are read")
        return header


class _Stream:
    """A file object over pieces for `tarfile`, limited to the allowed size of archives."""

    def __init__(self, name: str, pieces: Iterator[bytes], budget: Budget) -> None:
        self._name = name
        self._pieces = pieces
        self._budget = budget
        #: The newest piece, and the offset of its unread part.
        self._piece = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; fewer only at the end."""
        parts, wanted = [], size
        while wanted > 0:
            if self._at >= len(self._piece):
                self._piece, self._at = next(self._pieces, b""), 0
                self._budget.count_archive_bytes(self._name, len(self._piece))
                if not self._piece:
                    break
            part = self._piece[self._at : self._at + wanted]
            self._at += len(part)
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)
