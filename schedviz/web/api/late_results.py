"""The response to a request whose result no worker has stored yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedviz.sessions.analysis.requests import ResultLate
from schedviz.sessions.replay.cycle_details import DetailLate
from schedviz.web.api.errors import ApiError
from schedviz.web.server.waiting_requests import TooManyWait


@contextmanager
def late_results(code: str = ResultLate.code, *, hint: str = "") -> Iterator[None]:
    """Raises `ApiError` 503 with this code if the result within is late, or if too many requests wait for theirs."""
    try:
        yield
    except TooManyWait as error:
        raise not_ready(f"{error} Try again in a moment.", code, hint=hint) from error
    except (ResultLate, DetailLate) as error:
        raise not_ready(str(error), code, hint=hint) from error


def not_ready(message: str, code: str = ResultLate.code, *, hint: str = "") -> ApiError:
    """The error for a result that no worker has stored yet: the client repeats the request."""
    return ApiError(503, code, message, headers={"Retry-After": "2"}, hint=hint)
