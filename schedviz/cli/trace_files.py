"""Trace files on disk: expanding arguments, and reading their bytes."""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from pathlib import Path

#: The endings of trace files.
ENDINGS = (".json", ".json.xz")
#: The maximum size of the unpacked text of a file, that of an import on a server that is not public.
MAX_UNPACKED_BYTES = 1 << 30


class Refused(Exception):
    """A file that cannot be used; the message has the reason."""


def find(paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """The files that arguments stand for (for a folder, those in it, sorted by name), and errors about the others."""
    result: list[Path] = []
    problems: list[str] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
            if not inside:
                problems.append(f"{path}: there is no .json or .json.xz file in this folder.")
            result += inside
        elif path.name.endswith(ENDINGS):
            result.append(path)
        elif not path.exists():
            problems.append(f"{path}: there is no such file or folder.")
        else:
            problems.append(f"{path}: a trace file's name ends in .json or .json.xz.")
    return result, problems


def read(path: Path) -> bytes:
    """The unpacked text of a file. Raises `Refused`."""
    try:
        return _unpacked(path) if path.name.endswith(".xz") else path.read_bytes()
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    except (lzma.LZMAError, EOFError) as error:
        raise Refused(f"{path}: this is not a complete .xz file ({error}).") from None


def _unpacked(path: Path) -> bytes:
    """A small file can unpack to more than the memory. Raises `Refused`."""
    with lzma.open(path) as file:
        text = file.read(MAX_UNPACKED_BYTES + 1)
    if len(text) > MAX_UNPACKED_BYTES:
        raise Refused(f"{path}: the file unpacks to more than {MAX_UNPACKED_BYTES:,} bytes, the limit for trace files.")
    return text
