"""The Celery tasks: bells that make a worker look at a session."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from schedviz.celery import app
from schedviz.sessions import around_tasks, bells, stream  # noqa: F401 (it connects itself)


@app.task(name=bells.TURN, queue=stream.ENGINE_QUEUE)
def turn(session_id: str) -> None:
    from schedviz.sessions.turn import take_turn

    take_turn(UUID(session_id))


@app.task(name=bells.IMPORT, queue=bells.IO_QUEUE, soft_time_limit=settings.IMPORT_SECONDS, time_limit=settings.IMPORT_SECONDS + 15)
def import_session(session_id: str) -> None:
    from schedviz.sessions.importing import import_uploads

    import_uploads(UUID(session_id))


@app.task(name=bells.CYCLE_DETAIL, queue=bells.IO_QUEUE, soft_time_limit=60, time_limit=75)
def cycle_detail(session_id: str, cycle: int) -> None:
    from schedviz.sessions.replay import make_cycle_detail

    make_cycle_detail(UUID(session_id), cycle)


@app.task(name=bells.ANSWER, queue=bells.IO_QUEUE, soft_time_limit=60, time_limit=75)
def answer(session_id: str, question: str, place: str) -> None:
    from schedviz.sessions import answering

    answering.answer(UUID(session_id), question.encode(), place)
