"""Single flight: however many clients request a result, one worker computes it once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from schedviz.sessions.hosting.interruptible import Interrupted
from schedviz.sessions.redis import stream
from schedviz.sessions.redis.renewal import renewed

#: A request that waited this long for a worker is sent again, because the broker may have lost it.
_REQUEST_SECONDS: Final = 60
#: A sender wants the result for this long after it last asked: a web server asks four times a second, but once for requests that follow
#: another one, which wait for up to 30 s.
_SENDERS_SECONDS: Final = 40
#: One who has not asked for this long has left. It may ask again a moment later.
_ABANDONED_SECONDS: Final = 5
#: If a worker crashes, another one may start after this time. A live worker renews its claim.
_COMPUTATION_SECONDS: Final = 20


def request_key(result_key: str) -> str:
    """Set from the time the request with this result key is sent until its result is stored."""
    return f"{result_key}:sent"


def _computation_key(result_key: str) -> str:
    return f"{result_key}:making"


def _senders_key(result_key: str) -> str:
    return f"{result_key}:senders"


def claim_request(result_key: str, sender: str = "") -> bool:
    """Claim the request; False if it is already queued or in progress. `sender`: one for whom it counts. Raises `redis.RedisError`."""
    pipe: Any = stream.client().pipeline(transaction=False)
    pipe.set(request_key(result_key), b"1", nx=True, ex=_REQUEST_SECONDS)
    if sender:
        pipe.sadd(_senders_key(result_key), sender)
        pipe.expire(_senders_key(result_key), _SENDERS_SECONDS)
    return bool(pipe.execute()[0])


def senders_of(result_key: str) -> list[str]:
    """Those who ask for a result: it counts for one of them, whichever has a turn. None are known of requests of a web server of an earlier
    version. Raises `redis.RedisError`.
    """
    senders: Any = stream.client().smembers(_senders_key(result_key))
    return [bytes(sender).decode() for sender in senders]


def keep_waiting(result_key: str) -> bool:
    """In a worker whose task waits for its turn: whether somebody still wants the result. The request then stays sent, so that no second
    task waits for it. Raises `redis.RedisError`.
    """
    client = stream.client()
    if client.exists(_senders_key(result_key)):
        client.set(request_key(result_key), b"1", ex=_REQUEST_SECONDS)
        return True
    return bool(client.exists(request_key(result_key)))


def drop_if_abandoned(result_key: str) -> bool:
    """In a worker, before a computation: whether all who asked for the result have left. The next request for it is then sent again.
    Raises `redis.RedisError`.
    """
    pipe: Any = stream.client().pipeline(transaction=False)
    pipe.pttl(_senders_key(result_key)).pttl(request_key(result_key))
    senders_left, request_left = pipe.execute()
    # Each time that a sender asks, the lifetime of the senders begins again. That of the request does not; it may have no senders.
    if senders_left >= 0:
        is_abandoned = senders_left < (_SENDERS_SECONDS - _ABANDONED_SECONDS) * 1000
    else:
        is_abandoned = request_left < (_REQUEST_SECONDS - _SENDERS_SECONDS) * 1000
    if is_abandoned:
        release_request(result_key)
    return bool(is_abandoned)


def release_request(result_key: str) -> None:
    """Release the claim of a request that could not be sent or is not computed. Raises `redis.RedisError`."""
    stream.client().delete(request_key(result_key), _senders_key(result_key))


@contextmanager
def claim_computation(result_key: str) -> Iterator[bool]:
    """In a worker: True if this worker must compute the result; False if it exists or another worker computes it. After an `Interrupted`,
    the request is still sent, because its task tries again. Raises `redis.RedisError`.
    """
    client = stream.client()
    if not client.set(_computation_key(result_key), b"1", nx=True, ex=_COMPUTATION_SECONDS):
        yield False
        return
    if client.exists(result_key):
        client.delete(_computation_key(result_key))
        yield False
        return
    ended = [_computation_key(result_key), request_key(result_key), _senders_key(result_key)]
    try:
        with renewed(lambda: _renew(result_key)):
            yield True
    except Interrupted:
        ended = [_computation_key(result_key)]
        raise
    finally:
        client.delete(*ended)


def _renew(result_key: str) -> None:
    pipe: Any = stream.client().pipeline(transaction=False)
    pipe.set(_computation_key(result_key), b"1", ex=_COMPUTATION_SECONDS)
    pipe.set(request_key(result_key), b"1", ex=_COMPUTATION_SECONDS)
    pipe.execute()
