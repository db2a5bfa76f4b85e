"""Where bytes come from: a name and a way to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

_PIECE = 1 << 20


class Source(msgspec.Struct, frozen=True):
    """A named file. `pieces` gives its bytes in order, again where it is called again; `size` is their number, if known."""

    name: str
    pieces: Callable[[], Iterable[bytes]]
    size: int | None = None

    @classmethod
    def of_bytes(cls, name: str, data: bytes) -> Source:
        """A source that is in memory."""
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
