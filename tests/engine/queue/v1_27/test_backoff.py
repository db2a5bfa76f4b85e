"""The backoff doubles with each attempt until its limit, as upstream's does."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import NANOS_PER_SECOND, PodInfo, QueuedPodInfo
from schedviz.engine.queue.v1_27.backoff import Backoff
from schedviz.kube.core import Pod


def _queued(attempts: int) -> QueuedPodInfo:
    queued = QueuedPodInfo(PodInfo(Pod()), timestamp=7 * NANOS_PER_SECOND)
    queued.attempts = attempts
    return queued


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (100, 10)])
def test_the_backoff_doubles_up_to_the_limit(attempts: int, seconds: int) -> None:
    assert Backoff(1, 10).expiry(_queued(attempts)) == (7 + seconds) * NANOS_PER_SECOND


def test_a_maximum_below_the_initial_backoff_applies_from_the_second_attempt_on() -> None:
    assert [Backoff(5, 2).expiry(_queued(attempts)) for attempts in (1, 2)] == [12 * NANOS_PER_SECOND, 9 * NANOS_PER_SECOND]
