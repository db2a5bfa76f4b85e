"""Threads of an engine worker validate settings, however many sessions wait for its slots."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

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

    assert stream.client().llen(worker_calls._calls_key("no-worker", "")) == 1
    for _ in range(2):
        with worker_calls.next_call("no-worker", seconds=0.1) as call:
            assert call is None
    assert stream.client().llen(worker_calls._calls_key("no-worker", "")) == 0


@pytest.mark.usefixtures("redis")
def test_senders_are_served_in_turn_and_one_call_of_each_runs_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = f"queue-{uuid4()}"
    monkeypatch.setattr(worker_calls.heartbeat, "alive", lambda: {"a worker": [queue]})

    def send(argument: bytes, sender: str) -> None:
        threading.Thread(
            target=worker_calls.call_thread, args=(argument,), kwargs={"queue": queue, "timeout_seconds": 30, "sender": sender}, daemon=True
        ).start()
        until(lambda: stream.client().exists(worker_calls._turn_key(queue, sender)))
        until(lambda: argument in b"".join(stream.client().lrange(worker_calls._calls_key(queue, sender), 0, -1)))  # type: ignore[arg-type]

    for argument, sender in ((b"ada 1", "ada"), (b"ada 2", "ada"), (b"ada 3", "ada"), (b"bob 1", "bob"), (b"bob 2", "bob")):
        send(argument, sender)

    def begin(stack: ExitStack) -> bytes | None:
        call = stack.enter_context(worker_calls.next_call(queue, seconds=0.1))
        if call is None:
            return None
        # If this worker is killed, its sender does not wait for long.
        assert stream.client().ttl(worker_calls._turn_key(queue, call[0].decode().split()[0])) <= 10
        stack.callback(worker_calls.store_result, call[1], b"done")
        return call[0]

    with ExitStack() as stack:
        assert [begin(stack) for _ in range(3)] == [b"ada 1", b"bob 1", None]
    began = []
    for _ in range(4):
        with ExitStack() as stack:
            began.append(begin(stack))
    # The last turn that ended was that of Ada, so Bob is first.
    assert began == [b"bob 2", b"ada 2", b"ada 3", None]


@pytest.mark.usefixtures("redis")
def test_a_sender_whose_call_was_lost_with_its_worker_has_a_turn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = f"queue-{uuid4()}"
    monkeypatch.setattr(worker_calls.heartbeat, "alive", lambda: {"a worker": [queue]})
    monkeypatch.setattr(worker_calls, "_BLOCK_SECONDS", 0.1)
    # The worker crashed in the sender's turn.
    stream.client().set(worker_calls._turn_key(queue, "ada"), b"1", px=300)
    results: list[bytes | None] = []
    calling = threading.Thread(
        target=lambda: results.append(worker_calls.call_thread(b"x", queue=queue, timeout_seconds=30, sender="ada")), daemon=True
    )
    calling.start()
    with worker_calls.next_call(queue, seconds=30) as call:
        assert call is not None
        worker_calls.store_result(call[1], b"done")
    calling.join()
    assert results == [b"done"]


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
