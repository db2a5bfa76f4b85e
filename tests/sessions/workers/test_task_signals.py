"""Workers connect the signals of tasks and of workers."""

from __future__ import annotations

from uuid import uuid4

import pytest
import structlog

from schedviz.celery import app
from schedviz.sessions import tasks
from schedviz.sessions.analysis import pasted_text_job
from schedviz.sessions.experiments import dispatch, next_job, trial_session_job, trial_sessions
from schedviz.sessions.metrics.process import IO_AND_EXPERIMENTS
from schedviz.sessions.redis import wakeups
from schedviz.sessions.transfer import import_job
from tests.conftest import RedisServer


def measured_imports() -> float:
    return IO_AND_EXPERIMENTS.get_sample_value("schedviz_job_seconds_count", {"task": wakeups.IMPORT, "state": "SUCCESS"}) or 0.0


# Only `apply` reads the deprecated attribute `queue`.
@pytest.mark.filterwarnings("ignore:(?s).*'queue' task attribute")
def test_a_worker_measures_jobs_and_names_task_and_session_in_its_log_lines(
    transactional_db: None,
    redis: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app.loader.import_default_modules()
    before, session_id = measured_imports(), str(uuid4())
    seen: list[dict[str, object]] = []
    acquire = import_job.lease.acquire

    def acquire_and_look(*arguments: object, **options: object) -> object:
        seen.append(structlog.contextvars.get_contextvars())
        return acquire(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(import_job.lease, "acquire", acquire_and_look)
    tasks.import_session.apply(args=(session_id,), throw=True)

    assert measured_imports() == before + 1
    assert seen == [{"task": wakeups.IMPORT, "session": session_id}]
    assert "session" not in structlog.contextvars.get_contextvars()


@pytest.mark.filterwarnings("ignore:(?s).*'queue' task attribute")
def test_log_lines_do_not_contain_pasted_text(monkeypatch: pytest.MonkeyPatch) -> None:
    app.loader.import_default_modules()
    seen: list[dict[str, object]] = []
    monkeypatch.setattr(pasted_text_job, "store_result", lambda *_: seen.append(structlog.contextvars.get_contextvars()))

    tasks.explain_text.apply(args=('"0/1 nodes are available: 1 secret"', "place"), throw=True)

    assert seen == [{"task": wakeups.EXPLAIN_TEXT, "session": ""}]


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore:(?s).*'queue' task attribute")
def test_log_lines_of_experiments_name_only_the_session_that_a_trial_is_recorded_in(monkeypatch: pytest.MonkeyPatch) -> None:
    app.loader.import_default_modules()
    seen: list[dict[str, object]] = []

    def note(*_: object) -> bool:
        seen.append(structlog.contextvars.get_contextvars())
        return True

    monkeypatch.setattr(next_job, "run_next", note)
    monkeypatch.setattr(trial_session_job, "record", note)
    experiment_id, session_id = str(uuid4()), str(uuid4())

    tasks.run_trial.apply(args=(experiment_id, 1), throw=True)
    tasks.record_trial.apply(args=(experiment_id, 1, session_id), throw=True)

    assert seen == [{"task": dispatch.TRIAL, "session": ""}, {"task": trial_sessions.RECORD, "session": session_id}]
