"""`Prefer: wait=5` (RFC 7240): the response waits until a command is applied or an import has ended.

The wait polls the database, because Redis may be down. Each waiting request holds a thread, for at most `MAX_WAIT_SECONDS`;
schedviz.web.server.waiting_requests limits their number.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from schedviz.web.api.response_headers import add_header
from schedviz.web.server.waiting_requests import TooManyWait, prefer_waits

T = TypeVar("T")

MAX_WAIT_SECONDS = 30.0
_FIRST_POLL_SECONDS = 0.002
_MAX_POLL_SECONDS = 0.05

PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description=f"`wait=5`: respond when it is done, or after 5 seconds (at most {MAX_WAIT_SECONDS:g}).",
)


def wait_seconds(request: Request) -> float:
    """The seconds that the client wants to wait; 0 for no wait. Confirms them in the response (`Preference-Applied`)."""
    match = re.search(r"(?:^|[,;\s])wait\s*=\s*(\d{1,9}(?:\.\d+)?)", request.headers.get("Prefer", ""))
    wait = min(float(match[1]), MAX_WAIT_SECONDS) if match else 0.0
    if wait > 0:
        add_header(request, "Preference-Applied", f"wait={wait:g}")
    return wait


def wait_until(is_done: Callable[[T], bool], read: Callable[[], T], first: T, seconds: float) -> T:
    """The result of `read` once it is done, or after the timeout; `first` is the result of the first read.

    It does not wait if too many requests are waiting.
    """
    if is_done(first) or seconds <= 0:
        return first
    try:
        with prefer_waits.slot():
            return _poll(is_done, read, first, seconds)
    except TooManyWait:
        return first


def _poll(is_done: Callable[[T], bool], read: Callable[[], T], first: T, seconds: float) -> T:
    deadline = time.monotonic() + seconds
    pause = _FIRST_POLL_SECONDS
    current = first
    while not is_done(current) and (remaining := deadline - time.monotonic()) > 0:
        time.sleep(min(pause, remaining))
        pause = min(pause * 1.3, _MAX_POLL_SECONDS)
        current = read()
    return current
