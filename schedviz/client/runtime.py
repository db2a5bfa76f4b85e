"""What differs between the two clients besides `async` and `await`: `async_x` in `aio.py` is `x` in the generated `sync.py`."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import httpx

P = ParamSpec("P")
T = TypeVar("T")


async def async_sleep(seconds: float) -> None:
    """Sleep without blocking the event loop."""
    await asyncio.sleep(seconds)


def sleep(seconds: float) -> None:
    """Sleep."""
    time.sleep(seconds)


async def async_run(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a thread."""
    return await asyncio.to_thread(call, *args, **kwargs)


def run(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function."""
    return call(*args, **kwargs)


def async_close_with(_owner: object, _http: httpx.AsyncClient) -> None:
    """Does nothing. Closing needs the event loop, so the caller closes an `AsyncClient`."""


def close_with(owner: object, http: httpx.Client) -> None:
    """Close the connections when `owner` is garbage-collected, because `Session.from_files(…)` does not expose its client."""
    weakref.finalize(owner, http.close)
