"""Sends calls with httpx: creates requests, retries them, and reports unreachable servers."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import httpx

from schedviz.client.calls import Call, Flow, Pause, Reply
from schedviz.client.decoding import ACCEPTED
from schedviz.client.errors import ResponseTooLarge, Unavailable
from schedviz.client.limits import MAX_ERROR_BYTES, TooLarge
from schedviz.client.server import NONE_FOUND, WHERE_LOOKED, Server

logger = logging.getLogger(__name__)

T = TypeVar("T")
#: The result of a call: a response or an error. None for a pause.
CallResult: TypeAlias = Reply | httpx.TransportError | None

_TIMEOUT_SECONDS = 60.0
#: How long a stream may be silent; the server sends heartbeats more often.
STREAM_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
#: No limit on idle connections: at its limit, httpx's pool may close a connection that another thread is about to use.
_CONNECTIONS = httpx.Limits(max_connections=100, max_keepalive_connections=None)
#: How often a call that may be repeated is repeated, and the first pause if the server names none.
MAX_RETRIES = 5
_PAUSE_SECONDS = 0.5
#: After this many repetitions without a response a message is logged; a restarting server has responded by then.
_SILENT_RETRIES = 2
_MAX_PAUSE_SECONDS = 30.0
_TRY_AGAIN = (429, 502, 503, 504)
#: Codes of 503 responses for computations in progress, where an immediate retry does not help.
_BEING_COMPUTED = (b'"answer_late"', b'"detail_late"')


def options(server: Server) -> dict[str, Any]:
    """The arguments for both kinds of httpx clients."""
    headers = {"User-Agent": "schedviz-client", "Accept-Encoding": ACCEPTED}
    headers |= {"Authorization": f"Bearer {server.token}"} if server.token else {}
    return {"base_url": f"{server.address}/api/v1/", "headers": headers, "limits": _CONNECTIONS, "trust_env": not _is_here(server)}


def _is_here(server: Server) -> bool:
    """Whether the server is on this machine, where proxies of the environment are not used."""
    return urlsplit(server.address).hostname in ("127.0.0.1", "localhost", "::1")


def request_of(call: Call) -> dict[str, Any]:
    """The arguments for httpx's `request`."""
    made: dict[str, Any] = {"method": call.method, "url": call.path, "params": dict(call.query), "headers": dict(call.headers)}
    if call.files:
        made |= {"files": [("file", (name, data)) for name, data in call.files], "data": call.body or {}}
    elif call.body is not None:
        made["json"] = call.body
    return {**made, "timeout": httpx.Timeout(_TIMEOUT_SECONDS + call.wait, connect=10.0)}


def reply_of(response: httpx.Response, content: bytes) -> Reply:
    """The reply for a response with this body."""
    hint = WHERE_LOOKED if response.status_code == 401 and "Authorization" not in response.request.headers else ""
    return Reply(response.status_code, response.headers, content, hint)


def is_read(response: httpx.Response, body: bytearray, max_bytes: int) -> bool:
    """Whether enough of a body was read (of an error only the beginning). Raises `ResponseTooLarge`."""
    if response.is_error:
        return len(body) >= MAX_ERROR_BYTES
    if len(body) > max_bytes:
        raise too_large(response, TooLarge("The response", max_bytes))
    return False


def too_large(response: httpx.Response, error: TooLarge) -> ResponseTooLarge:
    """The error for a response that is too large."""
    url = response.request.url
    return ResponseTooLarge(f"{url.scheme}://{url.netloc.decode()}{url.path}: {error}. Is the address that of a schedviz server?")


def with_retries(flow: Flow[T], server: Server) -> Generator[Call | Pause, CallResult, T]:
    """Run a flow, and repeat calls if that is safe and may help. Raises `Unavailable`."""
    reply: Reply | None = None
    while True:
        try:
            step = next(flow) if reply is None else flow.send(reply)
        except StopIteration as ended:
            result: T = ended.value
            return result
        if isinstance(step, Pause):
            yield step
            reply = Reply(204, {}, b"")
        else:
            reply = yield from _tried(step, server)


def _tried(call: Call, server: Server) -> Generator[Call | Pause, CallResult, Reply]:
    retries = 0
    while True:
        outcome = yield call
        reply, error = (outcome, None) if isinstance(outcome, Reply) else (None, outcome)
        pause = _pause_before_again(call, retries, reply)
        if pause is None:
            if reply is None:
                raise unreachable(server, error)
            return reply
        if reply is None and retries == _SILENT_RETRIES:
            remaining = sum(_PAUSE_SECONDS * 2**attempt for attempt in range(retries, MAX_RETRIES))
            logger.warning("%s; retrying for %.0f s.", _silence(server, error), remaining)
        retries += 1
        yield Pause(pause)


def _pause_before_again(call: Call, retries: int, reply: Reply | None) -> float | None:
    """How long to wait before the next attempt; None if there is none. `reply` None: there was no response."""
    may_repeat = call.method in ("GET", "DELETE") or "Idempotency-Key" in call.headers or _has_key(call.body)
    if retries >= MAX_RETRIES or not may_repeat:
        return None
    if reply is None:
        return float(_PAUSE_SECONDS * 2**retries)
    if reply.status not in _TRY_AGAIN or any(phrase in reply.content for phrase in _BEING_COMPUTED):
        return None
    return min(_seconds(reply.headers, _PAUSE_SECONDS * 2**retries), _MAX_PAUSE_SECONDS)


def unreachable(server: Server, error: Exception | None) -> Unavailable:
    """The error for an unreachable server."""
    return Unavailable(f"{_silence(server, error)}. {NONE_FOUND if server.guessed else 'Is `schedviz up` running there?'}")


def _silence(server: Server, error: Exception | None) -> str:
    reason = "no response" if error is None else str(error) or type(error).__name__
    return f"{server.address} does not respond ({reason})"


def _has_key(body: Any) -> bool:
    return isinstance(body, Mapping) and bool(body.get("key"))


def _seconds(headers: Mapping[str, str], otherwise: float) -> float:
    raw = headers.get("Retry-After", "")
    return float(raw) if raw.isascii() and raw.isdigit() else otherwise
