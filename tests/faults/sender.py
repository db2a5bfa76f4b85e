"""Sends commands to one session over REST, as somebody does who wants every one of them done once: again and again under the same key."""

from __future__ import annotations

import itertools
import random
import threading
import time
from typing import Any

from tests.faults.client import Client, NoAnswer
from tests.sessions.conftest import pod

_PAUSE_SECONDS = 0.08
#: One in so many is sent twice although it was answered.
_DOUBLED = 10


class Sender(threading.Thread):
    """One session's. `sent` holds what was accepted, in the order in which it was sent."""

    def __init__(self, client: Client, session_id: str, seed: int, stopped: threading.Event) -> None:
        super().__init__(name=f"sender of {session_id}", daemon=True)
        self.session_id = session_id
        #: Key and number.
        self.sent: list[tuple[str, int]] = []
        #: How often nobody answered.
        self.unanswered = 0
        #: The longest that it took to have one accepted.
        self.longest_seconds = 0.0
        #: What must not be, if it was.
        self.trouble = ""
        self._client = client
        self._random = random.Random(seed)
        self._stopped = stopped
        self._numbers = itertools.count(1)

    def run(self) -> None:
        """Until it is told to stop; what was begun is brought to its end."""
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
            assert again == seq, f"{key} was number {seq} and then {again}"

    def _until_accepted(self, body: dict[str, Any]) -> int:
        while True:
            try:
                status, answer = self._client.ask("POST", f"/api/v1/sessions/{self.session_id}/commands/", body)
            except NoAnswer:
                status, answer = 0, None
            if status in (200, 202):
                seq: int = answer["seq"]
                return seq
            if not self.is_to_be_sent_again(status, answer):
                raise AssertionError(f"{body} was answered with {status}: {answer}")
            self.unanswered += status != 429
            time.sleep(0.05)

    def is_to_be_sent_again(self, status: int, _answer: Any) -> bool:
        """Nobody is there (0), the session has enough to do, or the database is away."""
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
