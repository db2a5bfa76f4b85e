"""Freed memory is given back to the system."""

from __future__ import annotations

import sys
from threading import Event

import psutil
import pytest

from schedviz.sessions.heap_trim import DelayedTrim, trim


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


def test_requests_of_one_second_are_served_once() -> None:
    trimmed = []
    done = Event()

    def count() -> None:
        trimmed.append(1)
        done.set()

    delayed = DelayedTrim(count, 0.05)
    for _ in range(5):
        delayed.request()
    assert done.wait(10)
    assert trimmed == [1]

    done.clear()
    delayed.request()
    assert done.wait(10)
    assert trimmed == [1, 1]
