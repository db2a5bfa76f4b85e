"""Archives that are small and become large."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterable


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of these files, packed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: Iterable[tuple[str, bytes]], mode: str = "w:gz") -> bytes:
    """A tar of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_of_zeros(files: int, megabytes: int) -> bytes:
    """`files` files of `megabytes` MB of zeros each."""
    zeros = bytes(megabytes << 20)
    return zipped((f"{number}.json", zeros) for number in range(files))


def zip_of_empty_objects(files: int) -> bytes:
    """Many files that are read and refused."""
    return zipped((f"{number}.json", b"{}") for number in range(files))
