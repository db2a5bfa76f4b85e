"""Creates the session of a trial; `trial_session_job` fills it in an io worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from schedviz.sessions import quotas
from schedviz.sessions.hosting import import_turns
from schedviz.sessions.hosting.lease import FREE
from schedviz.sessions.models import Experiment, ExperimentTrial, Session
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.transfer.create import waiting_progress

RECORD: Final = "schedviz.record_trial"
#: The name of the file that is imported.
FILE: Final = "trial.schedviz"


def open_trial(owner_id: int | None, experiment: Experiment, trial: ExperimentTrial) -> Session:
    """A session with status `importing`, for which a worker runs the trial again. Raises `QuotaReached`."""
    seed = "" if trial.seed is None else f", seed {trial.seed}"
    with quotas.creating_session(owner_id):
        session = Session.objects.create(
            owner_id=owner_id,
            name=f"{experiment.name}: {trial.variant}{seed}"[:200],
            source={"files": [FILE], "experiment": str(experiment.pk), "trial": trial.number},
            progress=waiting_progress(),
        )
    _notify(session.pk, session.source)
    session.refresh_from_db()
    return session


def sweep() -> None:
    """Enqueue the recording of trials that have no live worker: the worker crashed, or the task was lost. Idempotent."""
    waiting = Session.objects.filter(FREE, status=Session.Status.IMPORTING, uploaded=False, source__has_key="experiment")
    rows = list(waiting.order_by("created_at").values_list("pk", "owner_id", "source"))
    next_ones = set(import_turns.may_begin([(session_id, owner_id, True) for session_id, owner_id, _ in rows]))
    for session_id, _, source in rows:
        if session_id in next_ones:
            _notify(session_id, source)


def _notify(session_id: UUID, source: Mapping[str, Any]) -> None:
    if stream.claim_import_task(session_id, milliseconds=wakeups.IMPORT_DEDUPLICATION_MILLISECONDS):
        wakeups.enqueue(RECORD, source["experiment"], source["trial"], str(session_id), queue=wakeups.IO_QUEUE)
