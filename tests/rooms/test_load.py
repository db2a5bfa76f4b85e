"""A short run with a full room of real clients. load.py measures the same over a longer time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from schedviz.web.auth.login import make_token
from tests.rooms.crowd import Client, crowd_of, own_step, ready_session, teacher_steps, until_ready
from tests.rooms.slow_connection import SlowConnection
from tests.web.conftest import LiveServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine_worker", "io_worker")]

CLUSTER = {"generate": {"nodes": 10, "pods": 60}}


def in_a_room(server: LiveServer, lesson: Callable[[Client, dict[str, str], str], Awaitable[None]]) -> None:
    """Run a scenario as the teacher of a room."""
    base = f"http://{server.netloc}"
    token = make_token(User.objects.create_user("teacher"), "load")

    async def teach() -> None:
        async with Client(base, token=token) as teacher:
            session = await ready_session(teacher, CLUSTER)
            room = await teacher.request("POST", "rooms/", {"session": session})
            await teacher.enter(room["id"], session)
            async with asyncio.timeout(120):
                await lesson(teacher, room, base)

    asyncio.run(teach())


def test_every_participant_gets_every_step_and_moment_of_the_teacher(web_server):
    async def lesson(teacher: Client, room: dict[str, str], base: str) -> None:
        crowd = await crowd_of(base, room, 25)
        for _ in range(5):
            seen, moved = await teacher_steps(teacher, crowd, room["session"])
            assert len(seen) == len(moved) == 25
        assert {one.watcher.event for one in crowd} == {teacher.watcher.event}
        assert not any(one.watcher.gaps for one in crowd)
        for one in crowd:
            await one.close()

    in_a_room(web_server, lesson)


def test_students_step_their_own_sessions_concurrently(web_server):
    async def lesson(teacher: Client, room: dict[str, str], base: str) -> None:
        crowd = await crowd_of(base, room, 6)
        before = teacher.watcher.event

        async def study(student: Client) -> int:
            fork = await student.request("POST", f"rooms/{room['id']}/forks/", {})
            watcher = await student.watch(await until_ready(student, fork["id"]))
            for _ in range(3):
                await own_step(watcher)
            await watcher.close()
            return watcher.event

        assert all(event > before for event in await asyncio.gather(*(study(one) for one in crowd)))
        assert teacher.watcher.event == before
        for one in crowd:
            await one.close()

    in_a_room(web_server, lesson)


def test_a_participant_on_a_slow_connection_keeps_up(web_server):
    async def lesson(teacher: Client, room: dict[str, str], base: str) -> None:
        there = urlsplit(base)
        async with SlowConnection(str(there.hostname), int(there.port or 0), bits_per_second=1e6, delay_seconds=0.3) as connection:
            (slow,) = await crowd_of(base, room, 1, over=f"http://127.0.0.1:{connection.port}")
            for _ in range(3):
                seen, moved = await teacher_steps(teacher, [slow], room["session"])
                # The slow connection itself takes that long.
                assert min(*seen, *moved) >= 0.3
            event = await teacher.watcher.do(op="run", max=50)
            await slow.watcher.reached(event)
            assert (slow.watcher.event, slow.watcher.gaps, slow.watcher.renewed) == (event, 0, 0)
            await slow.close()

    in_a_room(web_server, lesson)
