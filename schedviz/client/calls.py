"""HTTP calls and replies as values, independent of how they are sent.

A *flow* is a generator that yields calls (and pauses), receives replies, and returns a result. `sync.py` and `aio.py` drive the same flows.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from schedviz.client.errors import SchedvizError, refusal
from schedviz.client.limits import MAX_JSON_BYTES

T = TypeVar("T")
#: The error for a response that no schedviz server sends.
NOT_SCHEDVIZ: Final = "The response is not from a schedviz server. Is the address right?"


@dataclass(frozen=True)
class Call:
    """A REST request; `path` is below `/api/v1/`."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    #: Files by name; `body` then has the form's other fields.
    files: Sequence[tuple[str, bytes]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The seconds that the server itself may wait before it responds.
    wait: float = 0.0
    #: The maximum number of bytes of the response.
    max_bytes: int = MAX_JSON_BYTES


@dataclass(frozen=True)
class Pause:
    """Wait this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    #: What to do about an error, if the client knows better than the server; "" otherwise.
    hint: str = ""

    def json(self) -> Any:
        """The decoded body. Raises `Refused`."""
        if self.status >= 400:
            raise refusal(self.status, self._problem())
        try:
            return json.loads(self.content) if self.content else None
        except (ValueError, RecursionError) as error:
            raise SchedvizError(NOT_SCHEDVIZ) from error

    def bytes(self) -> bytes:
        """The raw body. Raises `Refused`."""
        if self.status >= 400:
            raise refusal(self.status, self._problem())
        return self.content

    def _problem(self) -> Mapping[str, Any]:
        try:
            found = json.loads(self.content)
        except ValueError:
            found = None
        if isinstance(found, dict) and "detail" in found:
            return {**found, "hint": self.hint} if self.hint else found
        return {"detail": f"HTTP {self.status}. {NOT_SCHEDVIZ}"}


Flow: TypeAlias = Generator[Call | Pause, Reply, T]


def ask(call: Call) -> Flow[Any]:
    """Send one call; returns the decoded response."""
    reply = yield call
    return reply.json()


def ask_bytes(call: Call) -> Flow[bytes]:
    """Send one call; returns the raw response."""
    reply = yield call
    return reply.bytes()
