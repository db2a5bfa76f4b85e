"""Threads of an engine worker validate settings, however many sessions wait for its slots."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from schedviz.kube.errors import DecodeError
from schedviz.sessions.redis import stream, wakeups, worker_calls
from schedviz.sessions.transfer import settings_validation_job, settings_validation_thread, validation
from tests.conftest import RedisServer, Worker, until


@pytest.fixture
def serving(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A thread as in a worker; no Celery task is sent."""
    stopping = threading.Event()
    monkeypatch.setattr(settings_validation_thread, "STOPPING", stopping)
    monkeypatch.setattr(settings_validation_thread, "_POLL_SECONDS", 0.1)
    monkeypatch.setattr(wakeups, "enqueue", lambda *_, **__: pytest.fail("a task was sent"))
    thread = threading.Thread(target=settings_validation_thread._serve)
    thread.start()
    yield
    stopping.set()
    thread.join()


def configuration(scheduler: Any) -> dict[str, Any]:
    return {"config": {"profiles": [{"schedulerName": scheduler, "plugins": {"filter": {"enabled": [{"name": "Unknown"}]}}}]}}


@pytest.mark.usefixtures("serving")
def test_settings_are_validated_without_a_slot() -> None:
    assert validation.validate_settings({"config": {"profiles": [{"schedulerName": "own"}]}})
    with pytest.raises(DecodeError, match="Unknown"):
        validation.validate_settings(configuration("own"))


@pytest.mark.usefixtures("serving")
def test_an_error_of_one_validation_does_not_end_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    validate, calls = settings_validation_job.validate, []

    def fail_at_first(settings: bytes, result_key: str) -> None:
        calls.append(result_key)
        if len(calls) == 1:
            raise RuntimeError
        validate(settings, result_key)

    monkeypatch.setattr(settings_validation_job, "validate", fail_at_first)
    with pytest.raises(worker_calls.NoWorker):
        worker_calls.call_thread(b"{}", queue=validation.QUEUE, timeout_seconds=5)
    assert worker_calls.call_thread(b"{}", queue=validation.QUEUE, timeout_seconds=5) == b"{}"


@pytest.mark.usefixtures("redis")
def test_a_call_whose_caller_has_given_up_is_skipped() -> None:
    with pytest.raises(worker_calls.NoWorker):
        worker_calls.call_thread(b"late", queue="no-worker", timeout_seconds=5)

    assert stream.client().llen(worker_calls._calls_key("no-worker")) == 1
    assert worker_calls.next_call("no-worker", seconds=0.1) is None
    assert worker_calls.next_call("no-worker", seconds=0.1) is None


@pytest.mark.usefixtures("transactional_db")
def test_an_engine_worker_validates_settings(redis: RedisServer) -> None:
    worker = Worker("engine", pool="threads", size=1, name="validating")
    worker.start()
    try:
        until(worker.is_ready)
        with pytest.raises(DecodeError, match="Unknown"):
            validation.validate_settings(configuration("own"))
    finally:
        worker.stop()
