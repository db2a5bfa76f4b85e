"""`GET /healthz`: the health of the web server, the workers, Redis and the database."""

from __future__ import annotations

import threading
import time
from typing import Any

import redis
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache

from schedviz.sessions import disk
from schedviz.sessions.redis import heartbeat, stream
from schedviz.sessions.sqlite.base import DatabaseFileGone

#: A queue without a worker counts as down.
QUEUES = ("engine", "io")
_FRESH_SECONDS = 1.0
_lock = threading.Lock()
_last: tuple[float, dict[str, Any]] = (0.0, {})


@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """200 if everything is up, otherwise 503 with the parts that are down. Requires no login, and reveals nothing else.

    `?self`: only whether this web server responds, for restart probes: a restart does not repair the other parts.
    """
    if "self" in request.GET:
        return JsonResponse({"status": "ok", "web": "ok"})
    global _last  # noqa: PLW0603 - the last result, for all requests within a second
    with _lock:
        when, result = _last
        if time.monotonic() - when > _FRESH_SECONDS or result["status"] != "ok":
            result = examine()
            _last = (time.monotonic(), result)
    return JsonResponse(result, status=200 if result["status"] == "ok" else 503)


def examine() -> dict[str, Any]:
    """The status of each part: "ok" or a sentence."""
    parts = {"web": "ok", "database": _database(), "redis": _redis(), "workers": "unknown: Redis is down"}
    if parts["redis"] == "ok":
        parts["workers"] = _workers()
    down = [part for part, state in parts.items() if state != "ok"]
    return {"status": "down" if down else "ok", "down": down, **parts}


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            if connection.vendor == "postgresql":
                cursor.execute("SHOW transaction_read_only")
                if cursor.fetchone() == ("on",):
                    return "is read-only"
    except DatabaseFileGone as error:
        return error.for_clients
    except (DatabaseError, InterfaceError):
        return "does not respond"
    return "ok" if disk.has_space() else "its disk is full"


def _redis() -> str:
    try:
        stream.client().ping()
    except (redis.RedisError, OSError):
        return "does not respond"
    return "ok"


def _workers() -> str:
    try:
        served = {queue for queues in heartbeat.alive().values() for queue in queues}
    except (redis.RedisError, OSError):
        return "unknown: Redis is down"
    missing = [queue for queue in QUEUES if queue not in served]
    return f"no worker serves: {', '.join(missing)}" if missing else "ok"
