"""The keys of uploads, in memory only: in Redis, where io workers find them, and in the process that received the upload.

That process restores the key if Redis is restarted during the import. An accepted import therefore survives the loss of either Redis or the
web server, but not of both at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

import redis
from django.db import connection

from schedviz.sessions.errors import SessionError
from schedviz.sessions.models import Session
from schedviz.sessions.redis import stream
from schedviz.sessions.uploads.encryption import new_key

logger = logging.getLogger(__name__)

#: How often a web server writes its keys to Redis.
_REFRESH_SECONDS = 1.0
#: The lifetime of a key that no process renews.
_LIFETIME_SECONDS = 48 * 3600
#: How long an import waits for a web server to restore its key, from the time when Redis was first found to lack it. The sweeper looks at
#: all imports at once, so many that lost their keys together wait together.
PATIENCE_SECONDS = 15.0


class KeyLost(SessionError):
    """The key of the uploads is lost."""

    code = "upload_lost"

    def __init__(self) -> None:
        super().__init__(
            "The uploaded files can no longer be read: they were encrypted with a key that is kept in memory only, and both Redis and the "
            "web server that received them were restarted before the import. Upload the files again."
        )


class KeyAwaited(SessionError):
    """Redis lacks the key of the uploads. A web server may still restore it."""

    code = "upload_key_awaited"


class KeysUnavailable(SessionError):
    """Redis is unavailable, so it is unknown whether the key exists."""

    code = "redis_away"


class _KeyRefresher:
    """The keys of uploads that this process received, and a thread that keeps them in Redis until their imports have ended."""

    def __init__(self) -> None:
        self._keys: dict[UUID, bytes] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def make(self, session_id: UUID) -> bytes:
        """A new key for a stored session."""
        key = new_key()
        _put({session_id: key})
        with self._lock:
            self._keys[session_id] = key
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._refresh_for_ever, name="upload-keys", daemon=True)
                self._thread.start()
        return key

    def get(self, session_id: UUID) -> bytes | None:
        return self._keys.get(session_id)

    def drop(self, session_id: UUID) -> None:
        with self._lock:
            self._keys.pop(session_id, None)

    def clear(self) -> None:
        with self._lock:
            self._keys.clear()

    def _refresh_for_ever(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(_REFRESH_SECONDS)
            with self._lock:
                keys = dict(self._keys)
                if not keys:
                    self._thread = None
                    return
            importing = _importing(keys)
            for ended in keys.keys() - importing:
                delete_key(ended)
            _put({session_id: keys[session_id] for session_id in importing})


_KEY_REFRESHER = _KeyRefresher()


def make(session_id: UUID) -> bytes:
    """A key for the uploads of a stored session, kept until the import has ended."""
    return _KEY_REFRESHER.make(session_id)


def find(session_id: UUID) -> bytes:
    """The key of a session's uploads. Raises `KeyAwaited`, `KeyLost` after `PATIENCE_SECONDS`, or `KeysUnavailable` if Redis is
    unavailable.
    """
    if (key := _KEY_REFRESHER.get(session_id)) is not None:
        return key
    try:
        stored: Any = stream.client().get(_name(session_id))
        if stored is not None:
            return bytes(stored)
        (seconds,) = _seconds_missing([session_id])
    except redis.RedisError:
        raise KeysUnavailable("Redis is unavailable.") from None
    if seconds >= PATIENCE_SECONDS:
        raise KeyLost
    raise KeyAwaited("The key of the uploads is not in Redis.")


def missing(session_ids: Collection[UUID]) -> dict[UUID, bool]:
    """Those sessions whose keys Redis lacks, each with whether its key is lost. None while Redis is unavailable."""
    try:
        stored: Any = stream.client().mget([_name(session_id) for session_id in session_ids]) if session_ids else []
        lacking = [session_id for session_id, key in zip(session_ids, stored, strict=True) if key is None]
        return {one: seconds >= PATIENCE_SECONDS for one, seconds in zip(lacking, _seconds_missing(lacking), strict=True)}
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)
        return {}


def _seconds_missing(session_ids: Collection[UUID]) -> list[float]:
    """How long ago each of these keys was first found to be missing, by the clock of Redis. Emptying Redis begins anew."""
    pipe: Any = stream.client().pipeline(transaction=False)
    for session_id in session_ids:
        pipe.set(_missing_name(session_id), b"1", nx=True, ex=_LIFETIME_SECONDS)
        pipe.pttl(_missing_name(session_id))
    return [_LIFETIME_SECONDS - milliseconds / 1000 for milliseconds in pipe.execute()[1::2]]


def delete_key(session_id: UUID) -> None:
    """Delete the key, because the import has ended. Copies of the uploads in the database's log or in a backup are then unreadable."""
    _KEY_REFRESHER.drop(session_id)
    try:
        stream.client().delete(_name(session_id), _missing_name(session_id))
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)


def drop_all_keys() -> None:
    """Drop all keys of this process, as a restart does."""
    _KEY_REFRESHER.clear()


def _name(session_id: UUID) -> str:
    return f"schedviz:upload-key:{session_id}"


def _missing_name(session_id: UUID) -> str:
    return f"schedviz:upload-key-missing:{session_id}"


def _put(keys: Mapping[UUID, bytes]) -> None:
    pipe = stream.client().pipeline(transaction=False)
    for session_id, key in keys.items():
        pipe.set(_name(session_id), key, ex=_LIFETIME_SECONDS)
        pipe.delete(_missing_name(session_id))
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is unavailable; the keys of uploads will be stored there later: %s", error)


def _importing(session_ids: Iterable[UUID]) -> set[UUID]:
    """The sessions whose imports have not ended; all of them while the database is unavailable."""
    remaining = set(session_ids)
    try:
        return set(Session.objects.filter(pk__in=remaining, status=Session.Status.IMPORTING).values_list("pk", flat=True))
    except Exception as error:  # noqa: BLE001 -- the keys must be kept whatever the error is.
        logger.debug("cannot query which imports have ended: %s", error)
        return remaining
    finally:
        connection.close()
