"""The feed of a session ends cleanly, whatever it is doing."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from schedviz.web.live import feed as feed_module
from schedviz.web.live.catch_up import CatchUp
from schedviz.web.live.feed import Feed


class SlowRedis:
    """A Redis that does not answer. Notes whether a call was running when the connection was closed: redis-py would connect again."""

    def __init__(self) -> None:
        self.running = 0
        self.running_at_close: int | None = None

    async def xrevrange(self, *_: Any, **__: Any) -> Any:
        self.running += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1

    async def aclose(self) -> None:
        self.running_at_close = self.running


@pytest.mark.parametrize("steps", [2, 20])
def test_no_call_is_running_when_the_connection_of_a_feed_is_closed(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "_NOTES_SECONDS", 60.0)
    connection: Any = SlowRedis()

    async def run() -> set[str]:
        feed = Feed(uuid4(), connection, CatchUp(), asyncio.Semaphore(1))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert connection.running == 1
        await feed.end()
        return {task.get_name() for task in asyncio.all_tasks()} - {asyncio.current_task().get_name()}  # type: ignore[union-attr]

    assert asyncio.run(run()) == set()
    assert connection.running_at_close == 0
