"""Compresses history for the database with zstd, which takes half the space of zlib and a quarter of the time.

A dictionary holds what the events of all sessions have in common, so that a commit of one cycle compresses nearly as well as one of sixty.
tools/history-dictionary makes dictionaries. Packed data names its dictionary, so a dictionary is never changed or deleted.
"""

from __future__ import annotations

import threading
import zlib
from functools import cache
from pathlib import Path

import zstandard

#: Higher levels search further without better results, because a cycle most resembles the one before it.
_LEVEL = 1
_NEWEST_DICTIONARY = 1
_ZSTD = b"\x28\xb5\x2f\xfd"
_FOLDER = Path(__file__).with_name("dictionaries")


class _Tools(threading.local):
    """Compressors and decompressors. They have buffers, so each thread has its own."""

    def __init__(self) -> None:
        self.plain = zstandard.ZstdCompressor(level=_LEVEL)
        self.packer = zstandard.ZstdCompressor(dict_data=_dictionary(_NEWEST_DICTIONARY))
        self.unpackers: dict[int, zstandard.ZstdDecompressor] = {}

    def unpacker(self, dictionary: int) -> zstandard.ZstdDecompressor:
        unpacker = self.unpackers.get(dictionary)
        if unpacker is None:
            unpacker = self.unpackers[dictionary] = zstandard.ZstdDecompressor(dict_data=_dictionary(dictionary) if dictionary else None)
        return unpacker


@cache
def _dictionary(number: int) -> zstandard.ZstdCompressionDict:
    dictionary = zstandard.ZstdCompressionDict((_FOLDER / f"history-{number}.zdict").read_bytes())
    dictionary.precompute_compress(level=_LEVEL)
    return dictionary


def pack(data: bytes) -> bytes:
    """Pack events or summaries."""
    return _tools.packer.compress(data)


def pack_large(data: bytes) -> bytes:
    """Pack an engine or a view, without the dictionary, because they have little in common with events."""
    return _tools.plain.compress(data)


def unpack(data: bytes) -> bytes:
    """Unpack data, including that of versions before 0.2, which used zlib."""
    if not is_packed(data):
        return zlib.decompress(data)
    return _tools.unpacker(zstandard.get_frame_parameters(data).dict_id).decompress(data)


def is_packed(data: bytes) -> bool:
    """Whether these bytes come from `pack`, not from zlib."""
    return data.startswith(_ZSTD)


_tools = _Tools()
