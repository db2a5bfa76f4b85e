"""The imports of one user do not occupy all io processes."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from schedviz.sessions import senders
from schedviz.sessions.hosting import import_turns, lease, sweep
from schedviz.sessions.models import Session
from schedviz.sessions.redis import wakeups

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")
FILES = {"files": ["cluster.yaml"]}


@pytest.fixture
def users() -> list[int]:
    return [User.objects.create_user(name).pk for name in ("ada", "bob", "cy")]


def waiting(owner_id: int | None, source: dict[str, object] | None = None) -> UUID:
    """A session whose import waits for an io process."""
    return Session.objects.create(owner_id=owner_id, uploaded=True, source=FILES if source is None else source).pk


def begin(session_id: UUID) -> lease.Lease | None:
    """Begin an import, as an io worker does."""
    taken = lease.acquire(session_id, importing=True, admits=import_turns.is_turn_of)
    return None if taken is None else taken[0]


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    result: list[UUID] = []
    monkeypatch.setattr(wakeups, "notify_import", result.append)
    return result


def swept(enqueued: list[UUID]) -> list[UUID]:
    enqueued.clear()
    sweep.sweep()
    return list(enqueued)


def test_a_second_import_of_a_user_starts_after_the_first_has_ended(users: list[int], enqueued: list[UUID]) -> None:
    first, second, other = waiting(users[0]), waiting(users[0]), waiting(users[1])
    running = begin(first)
    assert running is not None

    assert begin(second) is None
    assert swept(enqueued) == [other]
    assert begin(other) is not None

    lease.require_update(running, status=Session.Status.READY)
    assert swept(enqueued) == [second]
    assert begin(second) is not None


def test_an_import_whose_worker_crashed_does_not_block_others_of_its_user(users: list[int], enqueued: list[UUID]) -> None:
    first, second = waiting(users[0]), waiting(users[0])
    assert begin(first) is not None
    Session.objects.filter(pk=first).update(lease_until=1.0)

    assert len(swept(enqueued)) == 1
    assert begin(second) is not None


def test_forks_and_generated_clusters_do_not_wait_for_imports(users: list[int], enqueued: list[UUID]) -> None:
    assert begin(waiting(users[0])) is not None
    short = [waiting(users[0], {"fork": {}}), waiting(users[0], {"generate": {}})]

    assert set(swept(enqueued)) == set(short)
    assert all(begin(session_id) for session_id in short)


def test_a_sweep_does_not_read_the_sources_of_known_imports_again(users: list[int], enqueued: list[UUID]) -> None:
    running = begin(waiting(users[0]))
    assert running is not None
    later, short = waiting(users[0]), waiting(users[0], {"fork": {}})
    assert swept(enqueued) == [short]

    with CaptureQueriesContext(connection) as queries:
        assert swept(enqueued) == [short]
    # Those of the imports that run, and of trials.
    assert len([query for query in queries if '."source"' in query["sql"]]) == 2
    # The waiting import may now start, and the source of a new one is read.
    lease.require_update(running, status=Session.Status.READY)
    assert swept(enqueued) == [later, short]
    waiting(users[0])
    assert swept(enqueued) == [later, short]


@pytest.fixture
def visitors(users: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Visitors of the demo: two from one network, two from others."""
    made = [User.objects.create_user(f"visitor-{number}").pk for number in range(4)]
    networks = dict(zip(made, ("here", "here", "there", "elsewhere"), strict=True))
    monkeypatch.setattr(senders, "_networks_of", lambda ids: {user_id: networks[user_id] for user_id in ids if user_id in networks})
    return made


def test_demo_visitors_from_one_address_count_as_one_user(users: list[int], visitors: list[int], enqueued: list[UUID]) -> None:
    here, also_here, there, elsewhere = (waiting(user_id) for user_id in visitors)
    account = waiting(users[0])

    assert begin(here) is not None
    assert begin(also_here) is None
    # All visitors together have two imports.
    assert begin(there) is not None
    assert begin(elsewhere) is None
    assert swept(enqueued) == [account]


def test_sandboxes_and_forks_of_demo_visitors_leave_processes_to_others(
    users: list[int], visitors: list[int], enqueued: list[UUID]
) -> None:
    # A class behind one address begins as many as visitors of several.
    forks = [waiting(visitors[0], {"fork": {}}) for _ in range(3)]
    assert [begin(fork) is not None for fork in forks] == [True, True, False]
    of_user = waiting(users[0], {"fork": {}})
    assert begin(waiting(visitors[2])) is None

    assert swept(enqueued) == [of_user]
    assert begin(of_user) is not None


def test_many_imports_from_one_address_do_not_delay_others(
    visitors: list[int], enqueued: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [waiting(visitors[number % 2]) for number in range(6)]
    one = waiting(visitors[2])
    lots = iter((0.9, 0.3, 0.2, 0.1, 0.1))
    monkeypatch.setattr(import_turns.random, "random", lambda: next(lots, 0.5))

    first = import_turns.may_begin(
        [(session_id, visitors[index % 2], True) for index, session_id in enumerate(many)] + [(one, visitors[2], True)]
    )

    assert one in first
    assert len(first) == 2


def test_the_number_of_concurrent_imports_is_a_setting(users: list[int], settings: LazySettings) -> None:
    sessions = [waiting(users[0]) for _ in range(4)]
    settings.IMPORTS_PER_USER = 2
    assert [begin(session_id) is not None for session_id in sessions] == [True, True, False, False]
    settings.IMPORTS_PER_USER = 0
    assert begin(sessions[3]) is not None
