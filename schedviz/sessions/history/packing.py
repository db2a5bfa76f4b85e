"""How history is packed in the database: with zstd, which leaves half of what zlib leaves of events, in a quarter of the time.

What events of all sessions have in common is in a dictionary, so that a commit of one cycle packs nearly as well as one of sixty.
tools/history-dictionary makes them. What was packed names the dictionary that it needs, so none is ever changed or deleted.
"""

from __future__ import annotations

import threading
import zlib
from functools import cache
from pathlib import Path

import zstandard

#: The higher levels look further and find less: a cycle is most like the one before it.
_LEVEL = 1
_NEWEST_DICTIONARY = 1
_ZSTD = b"\x28\xb5\x2f\xfd"
_FOLDER = Path(__file__).with_name("dictionaries")


class _Tools(threading.local):
    """They keep buffers, so each thread has its own."""

    def __init__(self) -> None:
        self.plain = zstandard.ZstdCompressor(level=_LEVEL)
        self.packer = zstandard.ZstdCompressor(dict_data=_dictionary(_NEWEST_DICTIONARY))
        self.unpackers: dict[int, zstandard.ZstdDecompressor] = {}

    def unpacker(self, dictionary: int) -> zstandard.ZstdDecompressor:
        found = self.unpackers.get(dictionary)
        if found is None:
            found = self.unpackers[dictionary] = zstandard.ZstdDecompressor(dict_data=_dictionary(dictionary) if dictionary else None)
        return found


@cache
def _dictionary(number: int) -> zstandard.ZstdCompressionDict:
    dictionary = zstandard.ZstdCompressionDict((_FOLDER / f"history-{number}.zdict").read_bytes())
    dictionary.precompute_compress(level=_LEVEL)
    return dictionary


def pack(data: bytes) -> bytes:
    """Events or summaries as they are stored."""
    return _tools.packer.compress(data)


def pack_large(data: bytes) -> bytes:
    """An engine or a view as it is stored: it has little in common with events."""
    return _tools.plain.compress(data)


def unpack(data: bytes) -> bytes:
    """What was packed, also by versions before 0.2, which used zlib as the browser does."""
    if not is_packed(data):
        return zlib.decompress(data)
    return _tools.unpacker(zstandard.get_frame_parameters(data).dict_id).decompress(data)


def is_packed(data: bytes) -> bool:
    """Whether these are bytes of `pack`, not of zlib."""
    return data.startswith(_ZSTD)


_tools = _Tools()
