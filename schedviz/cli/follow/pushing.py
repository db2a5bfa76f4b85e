"""Pushes observations to a schedviz server in numbered batches, and retries each batch until it is accepted."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from schedviz.cli.follow.errors import FollowError
from schedviz.cli.follow.reflector import Change, PushedVersion
from schedviz.cli.rest_client import HOW_TO_AUTHENTICATE, RestClient, ServerResponse
from schedviz.explain.shadowing.decision_times import DecisionTime

_PAGE_SIZE = 5000
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.25, 15.0
#: The longest pause while the engine lags behind.
_MAX_LAGGING_PAUSE_SECONDS = 0.5
#: Bytes of the objects in one request, of which each is sent nevertheless: half of what a public server reads by default.
_MAX_BATCH_BYTES = 2 << 20
_OK, _CREATED, _BAD, _CONFLICT, _TOO_LARGE, _TOO_MANY, _SERVER_ERROR = 200, 201, 400, 409, 413, 429, 500
_EVENT = re.compile(r"\$\.events\[(\d+)\]")


class Pusher:
    """Pushes from one source into one session. `pushed` counts accepted events, `left_out` those that the server refused."""

    def __init__(
        self,
        server: RestClient,
        session: str,
        source: str,
        *,
        version: str = "",
        say: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._server = server
        self._path = f"sessions/{session}/observations/"
        self._source = source
        #: The version of the cluster's API server.
        self._version = version
        self._say = say
        self._sleep = sleep
        #: The number of the next batch.
        self._n = 1
        #: Whether the server accepts decisions.
        self._accepts_decisions = True
        self.pushed = 0
        self.left_out = 0

    def resume(self) -> dict[str, dict[str, PushedVersion]]:
        """Get the number of the expected batch, and what was pushed before, by kind and key. Raises `FollowError`."""
        known: dict[str, dict[str, PushedVersion]] = {}
        after = 0
        while True:
            response = self._until_response(f"{self._path}?after={after}&limit={_PAGE_SIZE}", None)
            if response.status != _OK:
                raise self._refusal(response)
            page = response.json()
            if page["source"] not in (None, self._source):
                raise FollowError(
                    f"the session follows {page['source']!r}, not {self._source!r}: give that with --source, or another session."
                )
            self._n = page["expected"]
            for row in page["objects"]:
                known.setdefault(row["kind"], {})[row["key"]] = PushedVersion(row["uid"], row["version"])
            if page["next"] is None:
                return known
            after = page["next"]

    def push(self, changes: list[Change], decisions: Sequence[DecisionTime] = ()) -> None:
        """Push changes, in order; returns when they are stored. Raises `FollowError` if the server will never accept them.

        `decisions`: what is known about when the cluster's scheduler decided; sent with the first changes.
        """
        if not self._accepts_decisions:
            decisions = ()
        if not changes and decisions:
            self._push_decisions(decisions)
            return
        waiting = changes
        size = len(changes)
        pause = _FIRST_PAUSE_SECONDS
        while waiting:
            batch = _within_bytes(waiting[:size])
            response = self._until_response(self._path, self._body(batch, decisions))
            code = response.error.get("code")
            if response.status in (_OK, _CREATED):
                self._n += 1
                self.pushed += len(batch)
                decisions = ()
                waiting, size, pause = waiting[len(batch) :], len(waiting) - len(batch), _FIRST_PAUSE_SECONDS
            elif response.status == _TOO_MANY or code == "quota_reached":
                # The engine's inbox is full: nothing was accepted, so the batch may be split. Otherwise only the request rate was too high.
                size = max(1, len(batch) // 2) if code == "too_many_commands" else size
                self._wait(f"{response.message} Waiting.", pause)
                # A lagging engine executes hundreds of commands per second.
                pause = min(pause * 2, _MAX_LAGGING_PAUSE_SECONDS if code == "too_many_commands" else _MAX_PAUSE_SECONDS)
            elif response.status == _TOO_LARGE and len(batch) > 1:
                size = len(batch) // 2
            elif response.status == _TOO_LARGE and batch:
                self._leave_out(response)
                waiting = waiting[1:]
            elif response.status == _BAD and (bad := _EVENT.match(str(response.error.get("detail", {}).get("path", "")))):
                self._leave_out(response)
                waiting = waiting[: int(bad[1])] + waiting[int(bad[1]) + 1 :]
                size = max(1, size - 1)
            elif response.status == _BAD and decisions:
                # A server of an earlier version does not know them.
                decisions, self._accepts_decisions = (), False
            else:
                raise self._refusal(response)

    def _leave_out(self, response: ServerResponse) -> None:
        self._say(f"the server refuses an object, which is left out: {response.message}")
        self.left_out += 1

    def _push_decisions(self, decisions: Sequence[DecisionTime]) -> None:
        """A batch without changes. The decisions are lost if the server does not accept it."""
        response = self._until_response(self._path, self._body([], decisions))
        if response.status in (_OK, _CREATED):
            self._n += 1
        elif response.status == _BAD:
            self._accepts_decisions = False
        elif response.status != _TOO_MANY:
            raise self._refusal(response)

    def _body(self, changes: list[Change], decisions: Sequence[DecisionTime]) -> dict[str, Any]:
        return {
            "source": self._source,
            "n": self._n,
            "events": [change.body() for change in changes],
            **({"version": self._version} if self._version else {}),
            **({"decisions": [msgspec.to_builtins(decision) for decision in decisions]} if decisions else {}),
        }

    def _until_response(self, path: str, body: Any) -> ServerResponse:
        """Send a request until there is a definite response. An earlier attempt may have been accepted."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                response = self._server.request(path, body)
                if response.status < _SERVER_ERROR:
                    return response
                why = response.message
            except OSError as error:
                why = str(error)
            self._wait(f"{self._server.address} does not respond: {why}. Trying again.", pause)
            pause = min(pause * 2, _MAX_PAUSE_SECONDS)

    def _wait(self, why: str, seconds: float) -> None:
        self._say(why)
        self._sleep(seconds)

    def _refusal(self, response: ServerResponse) -> FollowError:
        if response.error.get("code") == "wrong_batch":
            return FollowError(f"{response.message} Does another `schedviz follow` push into this session as {self._source!r}?")
        hint = HOW_TO_AUTHENTICATE if response.status in (401, 404) else ""
        return FollowError(f"{self._server.address}: {response.message} (HTTP {response.status}){hint}")


def _within_bytes(changes: list[Change]) -> list[Change]:
    """As many of the first changes as have at most `_MAX_BATCH_BYTES` together, but at least one."""
    size = 0
    for number, change in enumerate(changes):
        size += change.size
        if size > _MAX_BATCH_BYTES and number:
            return changes[:number]
    return changes
