"""Limits on responses, so that a faulty or hostile server cannot exhaust a client's memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

#: The JSON of one response. The view of 200,000 pods has 33 MB.
MAX_JSON_BYTES: Final = 256 << 20
#: An exported session.
MAX_EXPORT_BYTES: Final = 1 << 30
#: The body of an error. The rest of a longer one is not read.
MAX_ERROR_BYTES: Final = 1 << 20
#: One line of a stream.
MAX_LINE_BYTES: Final = 16 << 20


class TooLarge(Exception):
    """More was received than allowed."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} has more than {limit:,} bytes, the limit of this client")


class Lines:
    """Splits what arrives into lines, at newlines only: JSON strings can contain other line separators, such as U+2028."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()

    def add(self, data: bytes) -> Iterator[bytes]:
        """The lines that are complete now. Raises `TooLarge`."""
        *lines, tail = data.split(b"\n")
        for line in lines:
            self._require_room(line)
            yield bytes(self._rest + line)
            self._rest.clear()
        self._require_room(tail)
        self._rest += tail

    def end(self) -> bytes:
        """The last line, if it did not end with a newline."""
        return bytes(self._rest)

    def _require_room(self, data: bytes) -> None:
        if len(self._rest) + len(data) > self._max_bytes:
            raise TooLarge("A line of the response", self._max_bytes)
