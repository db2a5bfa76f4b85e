"""A worker releases engines before the kernel kills it: those of the owner with the most objects first."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from schedviz.sessions import heap_trim, senders
from schedviz.sessions.hosting import lease, worker_loop
from schedviz.sessions.hosting.engine_memory import EngineMemory, limit_bytes, used_bytes
from schedviz.sessions.models import Session
from schedviz.sessions.redis import wakeups
from tests.sessions.conftest import MakeSession, send, work_off


class Measured(EngineMemory):
    """Memory with a limit; the test sets its usage and the clock."""

    def __init__(self, limit: int = 100) -> None:
        self.use = 0
        self.now = 0.0
        super().__init__(limit=limit, used=lambda: self.use, clock=lambda: self.now)

    def fill(self, use: int) -> None:
        self.use = use
        self.now += 10.0


def test_the_memory_limit_is_the_smallest_of_the_control_groups(tmp_path: Path) -> None:
    own, root = tmp_path / "cgroup", tmp_path / "root"
    inner = root / "system.slice" / "engine.service"
    inner.mkdir(parents=True)
    own.write_text("0::/system.slice/engine.service\n")
    assert limit_bytes(own=own, root=root) == 0
    (inner / "memory.max").write_text("max\n")
    assert limit_bytes(own=own, root=root) == 0
    (inner / "memory.max").write_text("4000\n")
    (inner / "memory.high").write_text("3600\n")
    (root / "memory.max").write_text("9000\n")
    assert limit_bytes(own=own, root=root) == 3600
    own.write_text("0::/\n")
    assert limit_bytes(own=own, root=root) == 9000
    assert limit_bytes(own=tmp_path / "none", root=tmp_path / "nowhere") == 0
    assert used_bytes() > 10 << 20


def test_under_memory_pressure_only_the_owner_with_the_most_objects_waits_and_releases_engines() -> None:
    memory = Measured()
    with ExitStack() as hosted:
        for owner, objects in ((1, 50_000), (1, 50_000), (2, 20_000)):
            hosted.enter_context(memory.hosting(uuid4(), owner, objects))
        memory.fill(60)
        assert (memory.is_short, memory.must_wait(uuid4(), 1), memory.must_leave(1)) == (False, False, False)
        memory.fill(75)
        assert (memory.is_short, memory.must_wait(uuid4(), 1), memory.must_leave(1)) == (True, False, False)
        memory.fill(90)
        assert [memory.must_wait(uuid4(), owner) for owner in (1, 2, 3, None)] == [True, False, False, False]
        assert [memory.must_leave(owner) for owner in (2, 1, 1)] == [False, True, False], "one at a time"
        memory.fill(90)
        assert memory.must_leave(1)
    assert not memory.must_wait(uuid4(), 1), "nothing can be released for it"


def test_an_owner_of_small_engines_does_not_wait_for_memory() -> None:
    memory = Measured(limit=400 << 20)
    with memory.hosting(uuid4(), 1, 20), memory.hosting(uuid4(), 1, 20):
        memory.fill(370 << 20)
        assert (memory.is_short, memory.must_wait(uuid4(), 1), memory.must_leave(1)) == (True, False, False)
        with memory.hosting(uuid4(), 1, 30_000):
            assert memory.must_wait(uuid4(), 1)


def test_memory_is_collected_before_a_session_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Measured()

    def trim() -> None:
        memory.use = 50

    monkeypatch.setattr(heap_trim, "trim", trim)
    with memory.hosting(uuid4(), 1, 50_000):
        memory.fill(96)
        assert not memory.must_wait(uuid4(), 2)


def test_a_worker_with_exhausted_memory_loads_no_engine_and_releases_engines_sooner() -> None:
    memory = Measured()
    with memory.hosting(uuid4(), 1, 50), memory.hosting(uuid4(), 1, 50), memory.hosting(uuid4(), 2, 50):
        memory.fill(96)
        assert [memory.must_wait(uuid4(), owner) for owner in (1, 2, 3)] == [True] * 3
        assert memory.must_leave(1)
        memory.now += 0.6
        assert memory.must_leave(1)
    assert not memory.must_wait(uuid4(), 3), "nothing can be released for it"


def test_the_largest_of_many_small_owners_releases_an_engine_when_memory_is_exhausted() -> None:
    memory = Measured(limit=1 << 30)
    with ExitStack() as hosted:
        for owner in range(12):
            hosted.enter_context(memory.hosting(uuid4(), owner, 20_000 + owner))
        memory.fill(int(0.9 * (1 << 30)))
        assert not any(memory.must_leave(owner) for owner in range(12)), "others can still be loaded"
        memory.fill(int(0.96 * (1 << 30)))
        assert [owner for owner in range(12) if memory.must_leave(owner)] == [11]


@pytest.fixture
def restarting() -> tuple[Measured, list[float]]:
    """Memory of a worker that has run for a while, and when it was restarted."""
    memory = Measured()
    restarts: list[float] = []
    memory.restart = lambda: restarts.append(memory.now)
    memory._idle_check.request = lambda: None  # type: ignore[method-assign]
    memory.now = 3600.0
    return memory, restarts


def test_a_worker_restarts_that_hosts_nothing_and_whose_memory_is_short_all_the_same(restarting: tuple[Measured, list[float]]) -> None:
    memory, restarts = restarting
    with memory.hosting(uuid4(), 1, 50):
        memory.fill(80)
        memory.restart_if_kept()
        assert not restarts, "it hosts a session"
    memory.now += 15
    memory.fill(60)
    memory.restart_if_kept()
    assert not restarts, "memory is not short"
    memory.fill(80)
    memory.restart_if_kept()
    assert restarts == [memory.now]


def test_a_worker_that_hosted_a_session_a_moment_ago_does_not_restart(restarting: tuple[Measured, list[float]]) -> None:
    memory, restarts = restarting
    memory.fill(80)
    for _ in range(3):
        with memory.hosting(uuid4(), 1, 50):
            pass
        memory.now += 4
        memory.restart_if_kept()
    assert not restarts
    memory.now += 15
    memory.restart_if_kept()
    assert restarts


def test_a_young_worker_restarts_only_if_all_its_memory_is_used(restarting: tuple[Measured, list[float]]) -> None:
    memory, restarts = restarting
    memory.now = 60
    memory.fill(90)
    memory.restart_if_kept()
    assert not restarts
    memory.fill(96)
    memory.restart_if_kept()
    assert restarts


def test_concurrent_loads_reserve_the_memory_that_each_may_need() -> None:
    memory = Measured(limit=100 << 20)
    first, second, third, small = (uuid4() for _ in range(4))
    with memory.hosting(small, 4, 10), memory.hosting(first, 1, 20_000), memory.hosting(second, 2, 20_000), memory.hosting(third, 3, 10):
        memory.fill(20 << 20)
        assert not memory.must_wait(small, 4)
        assert not memory.must_wait(first, 1)
        assert not memory.must_wait(second, 2), "20 of 100 MB are used, and the first may need 40"
        assert memory.must_wait(third, 3)
        memory.fill(60 << 20)
        memory.weigh(first, 20_000)
        assert memory.must_wait(third, 3)
        memory.weigh(second, 20_000)
        assert not memory.must_wait(third, 3)
    assert not memory._loading


def test_an_engine_is_weighed_by_its_current_objects() -> None:
    memory = Measured()
    small, large = uuid4(), uuid4()
    with memory.hosting(small, 1, 2_500), memory.hosting(large, 2, 0):
        memory.weigh(large, 56_000)
        memory.weigh(uuid4(), 10**9)
        memory.fill(90)
        assert not memory.must_leave(1)
        assert memory.must_leave(2)


def test_a_single_engine_is_not_released_and_without_a_limit_none_is() -> None:
    memory = Measured()
    own = uuid4()
    with memory.hosting(own, 1, 300_000):
        memory.fill(99)
        assert not memory.must_leave(1)
        assert not memory.must_wait(own, 1)
    unlimited = EngineMemory(limit=0, used=lambda: 10**12)
    with unlimited.hosting(uuid4(), 1, 10), unlimited.hosting(uuid4(), 1, 10):
        assert (unlimited.is_short, unlimited.must_leave(1), unlimited.must_wait(uuid4(), 1)) == (False, False, False)


def test_a_single_engine_that_uses_all_memory_leaves_once_for_a_session_that_waits() -> None:
    memory = Measured()
    other = uuid4()
    with memory.hosting(uuid4(), 1, 300_000):
        memory.fill(99)
        with memory.hosting(other, 2, 10):
            assert memory.must_wait(other, 2)
        assert memory.must_leave(1)
        memory.now += 1
        assert not memory.must_leave(1), "nobody has been refused since"


def test_memory_that_released_engines_left_blocks_nobody() -> None:
    memory = Measured(limit=1 << 30)
    small = uuid4()
    with memory.hosting(uuid4(), 1, 2_000), memory.hosting(small, 2, 10):
        memory.fill(int(0.97 * (1 << 30)))
        assert not memory.must_wait(small, 2)
        assert not any(memory.must_leave(owner) for owner in (1, 2))
    with memory.hosting(uuid4(), 1, 200_000), memory.hosting(small, 2, 10):
        assert memory.must_wait(small, 2)
        assert memory.must_leave(1)


def test_idle_engines_of_the_largest_owner_are_released_first_while_memory_is_short() -> None:
    memory = Measured()
    with memory.hosting(uuid4(), 1, 300_000), memory.hosting(uuid4(), 2, 10):
        assert not memory.is_needed_by_others(1)
        memory.fill(75)
        assert (memory.is_needed_by_others(1), memory.is_needed_by_others(2)) == (True, False)


def test_demo_visitors_count_as_one_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "_networks_of", lambda user_ids: {user: f"network {user}" for user in user_ids if user >= 10})
    memory = Measured()
    with ExitStack() as hosted:
        for owner, objects in ((1, 25_000), (10, 10_000), (11, 10_000), (12, 10_000)):
            hosted.enter_context(memory.hosting(uuid4(), owner, objects))
        memory.fill(90)
        assert [memory.must_wait(uuid4(), owner) for owner in (1, 10, 13)] == [False, True, True]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Measured:
    worker_loop.WARM.clear()
    result = Measured()
    monkeypatch.setattr(worker_loop, "MEMORY", result)
    return result


def test_a_session_backs_off_while_memory_is_used_up_and_continues_later(make_session: MakeSession, memory: Measured) -> None:
    session_id = make_session()
    owner = User.objects.create_user("owner")
    Session.objects.filter(pk=session_id).update(owner=owner)
    seq = send(session_id, "cycle")
    memory.fill(90)

    with memory.hosting(uuid4(), owner.pk, 100_000):
        session = work_off(session_id)

    assert session.applied_seq < seq
    assert session.status == Session.Status.READY
    assert "memory" in session.message
    assert session.lease_until > 0
    Session.objects.filter(pk=session_id).update(lease_owner="", lease_until=0.0)
    session = work_off(session_id)
    assert (session.applied_seq, session.message) == (seq, "")


def test_a_session_with_work_yields_under_memory_pressure_and_keeps_no_warm_engine(
    make_session: MakeSession, memory: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than the cycles of one slice.
    pods = 500
    session_id = make_session(pods=pods)
    notified: list[UUID] = []
    monkeypatch.setattr(wakeups, "notify", lambda session_id, **_: notified.append(session_id))
    send(session_id, "run")
    # The engine is loaded while memory is available.
    monkeypatch.setattr(memory, "must_wait", lambda *_: False)
    memory.fill(90)

    with memory.hosting(uuid4(), None, 100_000):
        session = work_off(session_id)

    assert session.cycle < pods
    assert (session.lease_owner, notified[-1]) == ("", session_id)
    assert len(notified) == 2, "for the command, and when it yielded"
    assert worker_loop.WARM.pop(session_id) is None


def test_a_session_that_uses_all_memory_backs_off_while_another_waits(make_session: MakeSession, memory: Measured) -> None:
    pods = 500
    session_id, other = make_session(pods=pods), uuid4()
    send(session_id, "run")
    memory.fill(99)
    with memory.hosting(uuid4(), None, 300_000), memory.hosting(other, 2, 10):
        assert memory.must_wait(other, 2)
    session = work_off(session_id)

    assert (session.cycle < pods, session.lease_owner) == (True, lease.BACKOFF_OWNER)
    assert "use most of the memory" in session.message
    Session.objects.filter(pk=session_id).update(lease_owner="", lease_until=0.0)
    session = work_off(session_id)
    assert (session.cycle, session.message) == (pods, "")


def test_an_idle_session_that_uses_all_memory_is_not_loaded_again_before_the_one_that_waits(
    make_session: MakeSession, memory: Measured
) -> None:
    session_id, other = make_session(), uuid4()
    send(session_id, "cycle")
    memory.fill(99)
    with memory.hosting(uuid4(), None, 300_000), memory.hosting(other, 2, 10):
        assert memory.must_wait(other, 2)

    assert work_off(session_id).lease_owner == lease.BACKOFF_OWNER
