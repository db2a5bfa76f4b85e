"""Opens a trial as a session: an io worker runs it again with everything recorded, and the file that results is imported as any other."""

from __future__ import annotations

from uuid import UUID

from schedviz.experiments.base import BaseCluster
from schedviz.experiments.reading import parse_plan
from schedviz.experiments.running import PluginFailedError
from schedviz.experiments.trial_session import trial_session
from schedviz.sessions.experiments.trial_sessions import FILE
from schedviz.sessions.models import Experiment, ExperimentBase, Session
from schedviz.sessions.redis import wakeups
from schedviz.sessions.transfer.create import store_pieces
from schedviz.sessions.uploads.stored_files import seal_for


def record(experiment_id: UUID, number: int, session_id: UUID) -> None:
    """Run a trial, store its file as the upload of a session that waits for it, and begin the import."""
    waiting = Session.objects.filter(pk=session_id, status=Session.Status.IMPORTING, uploaded=False)
    experiment = Experiment.objects.filter(pk=experiment_id).first()
    base = ExperimentBase.objects.filter(pk=experiment_id).first()
    if experiment is None or base is None:
        waiting.update(status=Session.Status.FAILED, message="The experiment of this trial was deleted.")
        return
    if not waiting.update(progress={"phase": "running the trial", "done": 0, "total": None, "unit": ""}):
        return
    read = parse_plan(experiment.plan)
    try:
        file = trial_session(read.trials[number], BaseCluster.unpack(bytes(base.data)), read.plan)
    except PluginFailedError as error:
        waiting.update(status=Session.Status.FAILED, message=str(error))
        return
    store_pieces(session_id, seal_for(session_id), FILE, file)
    if waiting.update(uploaded=True):
        wakeups.notify_import(session_id)
