"""Trace files on disk: which ones an argument stands for, and their bytes."""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from pathlib import Path

#: What a trace file is called.
ENDINGS = (".json", ".json.xz")


class Refused(Exception):  # noqa: N818  (it ends one file, not the command)
    """A file that cannot be used; the text says which and why."""


def find(paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """The files that arguments stand for (a folder for those in it, sorted by name), and what is wrong with the others."""
    found: list[Path] = []
    problems: list[str] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
            if not inside:
                problems.append(f"{path}: there is no .json or .json.xz file in this folder.")
            found += inside
        elif path.name.endswith(ENDINGS):
            found.append(path)
        elif not path.exists():
            problems.append(f"{path}: there is no such file or folder.")
        else:
            problems.append(f"{path}: a trace file's name ends in .json or .json.xz.")
    return found, problems


def read(path: Path) -> bytes:
    """The text of a file, unpacked. Raises `Refused`."""
    try:
        data = path.read_bytes()
        return lzma.decompress(data) if path.name.endswith(".xz") else data
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    except (lzma.LZMAError, EOFError) as error:
        raise Refused(f"{path}: this is not an .xz file, or not a whole one ({error}).") from None
