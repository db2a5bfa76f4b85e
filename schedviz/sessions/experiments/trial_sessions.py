"""Creates the session of a trial; `trial_session_job` fills it in an io worker."""

from __future__ import annotations

from typing import Final

from schedviz.sessions import quotas
from schedviz.sessions.models import Experiment, ExperimentTrial, Session
from schedviz.sessions.redis import wakeups

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
            progress={"phase": "waiting", "done": 0, "total": None, "unit": ""},
        )
    wakeups.enqueue(RECORD, str(experiment.pk), trial.number, str(session.pk), queue=wakeups.IO_QUEUE)
    session.refresh_from_db()
    return session
