"""Calls of extenders. The engine's host makes them, and each response is recorded as an input before the cycle continues.

The engine has no sockets. It passes a call to an `ExtenderTransport`, which makes it over HTTP, or returns a recorded response.
"""

from __future__ import annotations

import hashlib
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec

from schedviz.trace.events import ExtenderAnswered
from schedviz.trace.recorder import Recorder

#: The setting with the operator's list of hosts that may be called.
HOSTS_SETTING: Final = "SCHEDVIZ_EXTENDER_HOSTS"
#: How many characters of a response its trace event shows.
MAX_SHOWN_CHARACTERS: Final = 1000
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class ExtenderError(Exception):
    """A call without a response. The text is that of Go's HTTP client or of upstream's `send`."""


class ExtenderTls(msgspec.Struct, frozen=True):
    """How an extender's certificate is verified. `insecure`: not at all."""

    insecure: bool = False
    server_name: str = ""
    ca_pem: str = ""


class ExtenderCall(msgspec.Struct, frozen=True):
    """One POST. `event` is the number of the trace event that will record its response: the same call has the same number when a checkpoint
    replays it.
    """

    event: int
    verb: str
    url: str
    body: bytes
    timeout_seconds: float
    tls: ExtenderTls = ExtenderTls()


class ExtenderResponse(msgspec.Struct, frozen=True):
    """The result of a call: the body of the response, or the error."""

    event: int
    body: bytes = b""
    error: str = ""


class ExtenderTransport(Protocol):
    """Makes calls."""

    def call(self, call: ExtenderCall) -> bytes:
        """The body of a response with status 200. Raises `ExtenderError`; any other exception aborts the cycle."""
        ...


class NoHostAllowed:
    """The transport of an engine without another one: no host may be called."""

    def call(self, call: ExtenderCall) -> bytes:
        raise ExtenderError(not_listed(call.url))


def not_listed(url: str) -> str:
    """Why a host is not called."""
    return f'Post "{url}": schedviz does not call {host_and_port(url)}: it is not listed in {HOSTS_SETTING}'


def host_and_port(url: str) -> str:
    """`host:port` of a URL, as an operator lists it, the host in lower case; "": it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return ""
    if not parts.hostname or port is None or parts.username is not None:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{port}"


class ExtenderCalls:
    """Makes calls through a transport and keeps the responses until they are drained."""

    def __init__(self, recorder: Recorder) -> None:
        self.transport: ExtenderTransport = NoHostAllowed()
        self._recorder = recorder
        self._responses: list[ExtenderResponse] = []

    @property
    def has_responses(self) -> bool:
        """Whether there are undrained responses."""
        return bool(self._responses)

    def drain(self) -> list[ExtenderResponse]:
        """The responses since the last drain, oldest first."""
        responses, self._responses = self._responses, []
        return responses

    def call(
        self, extender: str, url: str, verb: str, body: bytes, *, timeout_seconds: float, tls: ExtenderTls, cycle: int | None = None
    ) -> ExtenderResponse:
        """Make a call and record its response. `cycle` is the calling cycle, if it is not the running one."""
        recorder = self._recorder
        call = ExtenderCall(recorder.event + 1, verb, url, body, timeout_seconds, tls)
        try:
            response = ExtenderResponse(call.event, body=self.transport.call(call))
        except ExtenderError as error:
            response = ExtenderResponse(call.event, error=str(error))
        self._responses.append(response)
        recorder.record_in_cycle(
            recorder.cycle if cycle is None else cycle,
            ExtenderAnswered,
            extender=extender,
            verb=verb,
            size=len(response.body),
            digest=hashlib.blake2b(response.body, digest_size=16).hexdigest() if response.body else "",
            answer=response.body[: 4 * MAX_SHOWN_CHARACTERS].decode(errors="replace")[:MAX_SHOWN_CHARACTERS],
            error=response.error,
        )
        return response
