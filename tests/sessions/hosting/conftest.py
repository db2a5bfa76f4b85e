"""Engine hosts under a real lease, without the worker loop around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from schedviz.sessions.hosting import lease
from schedviz.sessions.hosting.engine_host import EngineHost
from tests.sessions.conftest import MakeSession

HostOf = Callable[[UUID], EngineHost]


@pytest.fixture
def host_of(make_session: MakeSession) -> Iterator[HostOf]:
    """A function that takes a session's lease and loads its engine."""
    held: list[lease.Lease] = []

    def load(session_id: UUID) -> EngineHost:
        taken = lease.acquire(session_id)
        assert taken is not None
        held.append(taken[0])
        host = EngineHost(*taken)
        host.load()
        return host

    yield load
    for one in held:
        lease.release(one)
