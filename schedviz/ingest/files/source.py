"""The sources of an import: named files, folders and archive members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

_PIECE = 1 << 20
#: Name suffixes of files that may contain objects or a log.
_OF_USE = (".json", ".yaml", ".yml", ".csv", ".txt", ".log", ".gz", ".xz", ".tgz", ".tar", ".zip")
#: Of the pod logs in a dump of a cluster, only these are read.
_LOGS_OF = "kube-scheduler"
#: Longer names are shortened in the middle.
_MAX_NAME_LENGTH = 200


class Source(msgspec.Struct, frozen=True):
    """A named file. `pieces` returns its bytes in order, from the beginning on each call; `size` is their number, if known."""

    name: str
    pieces: Callable[[], Iterable[bytes]]
    size: int | None = None
    #: Whether it was found in a folder or an archive, where unrelated files are expected.
    is_incidental: bool = False
    #: Whether its `size` was already counted against the limits, as for a file of an archive.
    is_counted: bool = False

    @classmethod
    def of_bytes(cls, name: str, data: bytes) -> Source:
        """A source in memory."""
        return cls(name=name, pieces=lambda: (data[start : start + _PIECE] for start in range(0, len(data), _PIECE)), size=len(data))

    @classmethod
    def of_path(cls, path: Path | str) -> Source:
        """A source on disk, named by its path."""
        path = Path(path)

        def pieces() -> Iterator[bytes]:
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece

        return cls(name=str(path), pieces=pieces, size=path.stat().st_size)


def files_of(paths: Iterable[Path | str]) -> list[Source]:
    """The files, and the relevant files of folders, sorted by name. Links are not followed. Raises OSError."""
    sources: list[Source] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(entry for entry in path.rglob("*") if entry.is_file() and not entry.is_symlink())
            usable = [entry for entry in inside if may_be_of_use(str(entry.relative_to(path)))]
            sources += [msgspec.structs.replace(Source.of_path(entry), is_incidental=True) for entry in usable]
        else:
            sources.append(Source.of_path(path))
    return sources


def may_be_of_use(path: str) -> bool:
    """Whether a file of a folder or an archive may be relevant, by its name: objects and logs of the scheduler."""
    lower = path.lower()
    if lower.endswith(("logs.txt", "current.log", "previous.log")) or "/logs/" in lower:
        return _LOGS_OF in lower
    return lower.endswith(_OF_USE) or "." not in lower.rpartition("/")[2]


def shown_name(name: str) -> str:
    """A printable file name of limited length, for messages."""
    half = _MAX_NAME_LENGTH // 2
    short = name if len(name) <= _MAX_NAME_LENGTH else f"{name[:half]}…{name[-half:]}"
    return "".join(char if char.isprintable() else "\ufffd" for char in short)
