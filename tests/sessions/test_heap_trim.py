"""Freed memory is given back to the system."""

from __future__ import annotations

import sys

import psutil
import pytest

from schedviz.sessions.heap_trim import trim


@pytest.mark.skipif(sys.platform != "linux", reason="malloc_trim is glibc's")
def test_trim_gives_freed_memory_back() -> None:
    process = psutil.Process()
    # Blocks smaller than those that the C library maps one by one, with one that stays at the end of the heap.
    blocks = [bytearray(50_000) for _ in range(4_000)]
    blocks[:-1] = []
    freed = process.memory_info().rss

    trim()

    assert blocks
    assert process.memory_info().rss < freed - 100_000_000
