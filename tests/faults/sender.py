"""Sends commands to one session over REST, and repeats each under the same key until it is accepted."""

from __future__ import annotations

import itertools
import random
import threading
import time
from typing import Any

from tests.faults.client import Client, NoResponse
from tests.sessions.conftest import pod

_PAUSE_SECONDS = 0.08
#: One in this many commands is sent twice although it was accepted.
_DOUBLED = 10


class Sender(threading.Thread):
    """The sender of one session. `sent` has the accepted commands in the order of sending."""

    def __init__(self, client: Client, session_id: str, seed: int, stopped: threading.Event) -> None:
        super().__init__(name=f"sender of {session_id}", daemon=True)
        self.session_id = session_id
        #: The key and the number of each accepted command.
        self.sent: list[tuple[str, int]] = []
        #: The number of requests without a response.
        self.unanswered = 0
        #: The longest time until a command was accepted, in seconds.
        self.longest_seconds = 0.0
        #: The violation that was found, if any.
        self.trouble = ""
        self._client = client
        self._random = random.Random(seed)
        self._stopped = stopped
        self._numbers = itertools.count(1)

    def run(self) -> None:
        """Send until stopped; the last command is completed."""
        try:
            while not self._stopped.wait(self._random.uniform(0.0, _PAUSE_SECONDS)):
                self._send(f"key-{next(self._numbers)}", self._any())
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            raise

    def _send(self, key: str, command: dict[str, Any]) -> None:
        began = time.monotonic()
        seq = self._until_accepted({"key": key, **command})
        self.longest_seconds = max(self.longest_seconds, time.monotonic() - began)
        self.sent.append((key, seq))
        if self._random.randrange(_DOUBLED) == 0:
            again = self._until_accepted({"key": key, **command})
            assert again == seq, f"{key} got number {seq} first and {again} on repetition"

    def _until_accepted(self, body: dict[str, Any]) -> int:
        while True:
            try:
                status, response = self._client.request("POST", f"/api/v1/sessions/{self.session_id}/commands/", body)
            except NoResponse:
                status, response = 0, None
            if status in (200, 202):
                seq: int = response["seq"]
                return seq
            if not self.must_be_repeated(status, response):
                raise AssertionError(f"{body} was answered with {status}: {response}")
            self.unanswered += status != 429
            time.sleep(0.05)

    def must_be_repeated(self, status: int, _answer: Any) -> bool:
        """Whether a request has to be repeated: no response (0), too many waiting commands, or an unavailable database."""
        return status in (0, 429, 503)

    def _any(self) -> dict[str, Any]:
        number = next(self._numbers)
        return self._random.choice(
            [
                {"op": "create", "object": pod(f"new-{number}")},
                {"op": "create", "object": pod(f"new-{number}", cpu="3")},
                {"op": "delete", "kind": "Pod", "name": f"pod-{self._random.randint(1, 100)}"},
                {"op": "cycle"},
                {"op": "step", "unit": "stage", "count": 3},
                {"op": "run", "max": 5},
                {"op": "run", "max": 40},
                {"op": "run", "max": 20, "rate": 100},
                {"op": "schedule"},
                {"op": "bind"},
                {"op": "confirm"},
                {"op": "pause"},
                {"op": "advance", "seconds": 2},
                {"op": "snapshot"},
            ]
        )
