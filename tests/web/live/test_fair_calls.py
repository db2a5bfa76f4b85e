"""One client cannot use all threads that read and write for sockets."""

from __future__ import annotations

import asyncio
from threading import Event, Lock

from schedviz.web.live import database
from schedviz.web.live.fair_calls import in_database_for


def test_the_calls_of_one_client_leave_threads_for_others() -> None:
    end, lock = Event(), Lock()
    running: set[int] = set()
    at_a_time: list[int] = []

    def wait(number: int) -> int:
        with lock:
            running.add(number)
            at_a_time.append(len(running))
        end.wait(30)
        with lock:
            running.remove(number)
        return number

    async def run() -> tuple[list[int], list[int]]:
        busy = [asyncio.create_task(in_database_for("one", wait, number)) for number in range(20)]
        others = await asyncio.gather(*(in_database_for(name, lambda: 7) for name in ("two", "three")))
        end.set()
        return others, await asyncio.gather(*busy)

    try:
        assert asyncio.run(run()) == ([7, 7], list(range(20)))
        assert max(at_a_time) <= 2
    finally:
        database.close()
