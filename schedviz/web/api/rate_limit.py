"""Rate limits per minute: counted in Redis for all web processes together, and reported in `RateLimit-*` headers.

A request counts against one limit: that of created sessions, that of analyses, which keep a worker busy, that of attempts to join a room,
or that of other requests. A request with a large body counts as several. Requests of busy clients are counted in batches
(`rate_batching`). While Redis is down, each process counts on its own.
"""

from __future__ import annotations

import functools
import math
import os
import time
from typing import TYPE_CHECKING, Literal

import structlog
from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage, SlidingWindowCounterSupport, Storage
from limits.strategies import SlidingWindowCounterRateLimiter
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from schedviz.sessions.redis import stream
from schedviz.web.addresses import client_network
from schedviz.web.api.errors import ApiError
from schedviz.web.api.rate_batching import BatchedCounter, LimitCheck
from schedviz.web.api.response_headers import add_header
from schedviz.web.auth.permissions import actor_of
from schedviz.web.server.request_coalescing import coalesced_with

if TYPE_CHECKING:
    # Imported here because that module imports this one.
    from rest_framework.views import APIView

log = structlog.get_logger(__name__)

Scope = Literal["requests", "sessions", "questions", "joins"]
_SETTING: dict[Scope, str] = {
    "requests": "REQUESTS_PER_MINUTE",
    "sessions": "NEW_SESSIONS_PER_MINUTE",
    "questions": "QUESTIONS_PER_MINUTE",
    "joins": "ROOM_JOINS_PER_MINUTE",
}
#: A request counts once more for each of these bytes in its body.
BYTES_OF_A_REQUEST = 64 * 1024
#: How long Redis is not used after a failure.
_REDIS_RETRY_SECONDS = 5.0


class _Counters:
    """The counters of one process: those in Redis, and local ones for when Redis is down."""

    def __init__(self) -> None:
        pool = stream.client().connection_pool
        self._shared = SlidingWindowCounterRateLimiter(
            RedisStorage(settings.REDIS_URL, connection_pool=pool, key_prefix="schedviz:rate", wrap_exceptions=True)
        )
        self._own = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._credits = BatchedCounter()
        self._away_until = 0.0

    def count(self, item: RateLimitItemPerMinute, *identifiers: str, cost: int = 1) -> LimitCheck:
        """Count a request that costs as much as `cost` others."""
        return self._credits.count((item.amount, *identifiers), item.amount, lambda cost: self._check(item, cost, *identifiers), cost=cost)

    def _check(self, item: RateLimitItemPerMinute, cost: int, *identifiers: str) -> LimitCheck:
        if time.monotonic() >= self._away_until:
            try:
                return self._count(self._shared, item, cost, *identifiers)
            except StorageError as error:
                self._away_until = time.monotonic() + _REDIS_RETRY_SECONDS
                log.warning("Redis is unavailable; this process counts requests locally", error=str(error))
        return self._count(self._own, item, cost, *identifiers)

    @staticmethod
    def _count(limiter: SlidingWindowCounterRateLimiter, item: RateLimitItemPerMinute, cost: int, *identifiers: str) -> LimitCheck:
        allowed = limiter.hit(item, *identifiers, cost=cost)
        if not allowed and _outlasts_its_window(limiter.storage, item, *identifiers):
            # Redis' clock was set back. The counts would not decrease until it has caught up.
            limiter.clear(item, *identifiers)
            allowed = limiter.hit(item, *identifiers, cost=cost)
        window = limiter.get_window_stats(item, *identifiers)
        return LimitCheck(allowed, window.remaining, window.reset_time)


def _outlasts_its_window(storage: Storage, item: RateLimitItemPerMinute, *identifiers: str) -> bool:
    """Whether a stored count expires later than possible: a window lasts for at most two periods."""
    if not isinstance(storage, SlidingWindowCounterSupport):
        return False
    _, previous_seconds, _, current_seconds = storage.get_sliding_window(item.key_for(*identifiers), item.get_expiry())
    return max(previous_seconds, current_seconds) > 2 * item.get_expiry()


def _cost(request: Request, limit: int) -> int:
    """The number of requests that a body of this length counts as: at most a quarter of the limit."""
    length = request.META.get("CONTENT_LENGTH") or ""
    size = int(length) if length.isascii() and length.isdigit() else 0
    return min(1 + size // BYTES_OF_A_REQUEST, max(1, limit // 4))


def _counted_as(cost: int) -> str:
    return f"; this one counts as {cost:,}, one for each {BYTES_OF_A_REQUEST:,} bytes of its body" if cost > 1 else ""


@functools.cache
def _counters(_process: int, _redis: str) -> _Counters:
    return _Counters()


class RequestRate(BaseThrottle):
    """The DRF throttle: refuses with 429 and `Retry-After`. A view assigns its expensive methods to other limits in `rates`."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        if coalesced_with.get() is not None:
            # It was counted before it was repeated.
            return True
        rates: dict[str, Scope] = getattr(view, "rates", {})
        scope = rates.get(str(request.method), "requests")
        return self._count(request, scope, *self._limit_and_key(request, scope))

    def count_refused(self, request: Request) -> None:
        """Count a request whose credentials were refused, against the limit of anonymous clients. Raises `ApiError` 429."""
        self._count(request, "requests", *self._by_address(request))

    def _count(self, request: Request, scope: Scope, setting: str, client: str) -> bool:
        """True, after setting the headers of the response. Raises `ApiError` 429 above the limit."""
        limit: int = getattr(settings, setting)
        if limit == 0:
            return True
        # The cost of creating a session is its import, not the size of its file.
        cost = 1 if scope == "sessions" else _cost(request, limit)
        counted = _counters(os.getpid(), settings.REDIS_URL).count(RateLimitItemPerMinute(limit), scope, client, cost=cost)
        seconds = max(0.0, counted.reset_time - time.time())
        add_header(request, "RateLimit-Limit", str(limit))
        add_header(request, "RateLimit-Remaining", str(counted.remaining))
        add_header(request, "RateLimit-Reset", str(math.ceil(seconds)))
        add_header(request, "RateLimit-Policy", f"{limit};w=60")
        if counted.allowed:
            return True
        wait = max(1, math.ceil(seconds))
        raise ApiError(
            429,
            "too_many_requests",
            f"More than {limit:,} requests in a minute, the limit SCHEDVIZ_{setting} of this server{_counted_as(cost)}. "
            f"Try again in {wait} s.",
            headers={"Retry-After": str(wait)},
            expected=f"at most {limit} a minute",
        )

    def _limit_and_key(self, request: Request, scope: Scope) -> tuple[str, str]:
        """The setting with the limit, and the key under which requests are counted."""
        if scope == "joins":
            # By address, not by cookie: a client that guesses codes need not send one. The limit is high enough for a class behind one
            # address.
            return _SETTING[scope], f"address {client_network(request)}"
        actor = actor_of(request)
        if actor.user_id is not None:
            return _SETTING[scope], f"user {actor.user_id}"
        if actor.guest:
            # The participants of a class share one address, and each was admitted by a room code.
            return _SETTING[scope], f"guest {actor.guest}"
        return self._by_address(request)

    def _by_address(self, request: Request) -> tuple[str, str]:
        """The key of anonymous clients and of holders of share links, because a link can be given to many."""
        return "STRANGER_REQUESTS_PER_MINUTE", f"address {client_network(request)}"
