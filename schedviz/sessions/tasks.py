"""The Celery tasks. Most are wake-ups: the worker reads what to do from the database.

The others carry their input, and store what they computed in Redis for the web server that waits for it. The argument `session_id` is the
session that log lines of a task name."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.conf import settings

from schedviz.celery import app
from schedviz.sessions.experiments import dispatch, trial_sessions
from schedviz.sessions.redis import stream, wakeups

#: A trial and a check of a plan look at the time between two steps. These limits end one whose step takes too long; 0: no limit.
_TRIAL_SOFT_SECONDS: Final = settings.TRIAL_SECONDS and settings.TRIAL_SECONDS + 30
_TRIAL_HARD_SECONDS: Final = settings.TRIAL_SECONDS and settings.TRIAL_SECONDS + 60
#: An analysis is tried again after this time if as many as allowed run for its user.
_TURN_RETRY_SECONDS: Final = 1


@app.task(name=wakeups.HOST_SESSION, queue=stream.ENGINE_QUEUE)
def host(session_id: str) -> None:
    from schedviz.sessions.hosting.worker_loop import host_next_session

    host_next_session(UUID(session_id))


@app.task(name=wakeups.IMPORT, queue=wakeups.IO_QUEUE, soft_time_limit=settings.IMPORT_SECONDS, time_limit=settings.IMPORT_SECONDS + 15)
def import_session(session_id: str) -> None:
    from schedviz.sessions.transfer.import_job import run_import

    run_import(UUID(session_id))


@app.task(name=wakeups.CYCLE_DETAIL, queue=wakeups.IO_QUEUE, soft_time_limit=60, time_limit=75)
def cycle_detail(session_id: str, cycle: int) -> None:
    from schedviz.sessions.replay import cycle_detail_job

    if not cycle_detail_job.run(UUID(session_id), cycle):
        cycle_detail.apply_async((session_id, cycle), countdown=_TURN_RETRY_SECONDS)


@app.task(name=wakeups.ANALYSE, queue=wakeups.IO_QUEUE, soft_time_limit=60, time_limit=75)
def analyse(session_id: str, request: str, result_key: str) -> None:
    from schedviz.sessions.analysis import analysis_job

    if not analysis_job.run(UUID(session_id), request.encode(), result_key):
        # The process serves others meanwhile.
        analyse.apply_async((session_id, request, result_key), countdown=_TURN_RETRY_SECONDS)


@app.task(name=wakeups.VALIDATE, queue=stream.ENGINE_QUEUE)
def validate_settings(simulation: str, result_key: str) -> None:
    """Validate settings for a web server of an earlier version; others call the worker's threads for it."""
    from schedviz.sessions.redis import worker_calls
    from schedviz.sessions.transfer import settings_validation_job

    if not worker_calls.is_abandoned(result_key):
        settings_validation_job.validate(simulation.encode(), result_key)


@app.task(name=wakeups.EXPLAIN_TEXT, queue=wakeups.IO_QUEUE, soft_time_limit=10, time_limit=20)
def explain_text(text: str, result_key: str) -> None:
    from schedviz.sessions.analysis import pasted_text_job

    if not pasted_text_job.run(text.encode(), result_key):
        explain_text.apply_async((text, result_key), countdown=_TURN_RETRY_SECONDS)


@app.task(name=dispatch.CHECK, queue=dispatch.QUEUE, soft_time_limit=_TRIAL_SOFT_SECONDS, time_limit=_TRIAL_HARD_SECONDS)
def check_experiment(_experiment_id: str) -> None:
    from schedviz.sessions.experiments.next_job import run_next

    run_next()


@app.task(name=dispatch.TRIAL, queue=dispatch.QUEUE, soft_time_limit=_TRIAL_SOFT_SECONDS, time_limit=_TRIAL_HARD_SECONDS)
def run_trial(_experiment_id: str, _number: int) -> None:
    from schedviz.sessions.experiments.next_job import run_next

    run_next()


@app.task(
    name=trial_sessions.RECORD, queue=wakeups.IO_QUEUE, soft_time_limit=settings.IMPORT_SECONDS, time_limit=settings.IMPORT_SECONDS + 15
)
def record_trial(experiment_id: str, number: int, session_id: str) -> None:
    from schedviz.sessions.experiments import trial_session_job

    trial_session_job.record(UUID(experiment_id), number, UUID(session_id))
