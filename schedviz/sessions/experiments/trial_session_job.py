"""Opens a trial as a session: an io worker runs it again with everything recorded, and imports the resulting session file."""

from __future__ import annotations

import logging
from typing import Final
from uuid import UUID

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError

from schedviz.experiments.errors import PlanError
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.trials.run_trial import PluginFailedError, TrialStopped
from schedviz.experiments.trials.trial_session import trial_session
from schedviz.sessions.errors import SourceRefused
from schedviz.sessions.experiments.stop_check import StopCheck
from schedviz.sessions.experiments.trial_sessions import FILE
from schedviz.sessions.hosting import import_turns, lease
from schedviz.sessions.hosting.lease import LEASE_RENEWER, Lease
from schedviz.sessions.hosting.worker_loop import MAX_WORKER_CRASHES
from schedviz.sessions.models import Experiment, ExperimentBase, Session, Upload
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.transfer.create import store_upload
from schedviz.sessions.uploads import upload_keys
from schedviz.sessions.uploads.stored_files import new_cipher

logger = logging.getLogger(__name__)

_POLL_SECONDS: Final = 2.0


def record(experiment_id: UUID, number: int, session_id: UUID) -> None:
    """Run a trial, store its file as the upload of a session that waits for it, and begin the import.

    Does nothing if a live worker does it, it is done, or other imports of the user have the turn.
    """
    stream.task_has_begun(session_id)
    taken = lease.acquire(session_id, importing=True, uploaded=False, admits=import_turns.is_turn_of)
    if taken is None:
        return
    mine, session = taken
    LEASE_RENEWER.hold(mine)
    try:
        if session.acquisitions > MAX_WORKER_CRASHES:
            _fail(
                mine,
                f"{MAX_WORKER_CRASHES} worker processes in a row ended while they ran the trial. The log of the io workers has the reason.",
            )
        else:
            _record(mine, experiment_id, number)
    except TrialStopped:
        logger.info("left the trial for session %s: it was cancelled, deleted, or taken by another worker", session_id)
        _fail(mine, "The trial was cancelled.")
    except (PluginFailedError, PlanError, SourceRefused) as error:
        _fail(mine, str(error))
    except SoftTimeLimitExceeded:
        _fail(mine, f"The trial took longer than {settings.IMPORT_SECONDS} s, which SCHEDVIZ_IMPORT_SECONDS allows.")
    except MemoryError:
        _fail(mine, f"The trial needs more than {settings.IMPORT_MEGABYTES} MB of memory, which SCHEDVIZ_IMPORT_MEGABYTES allows.")
    except DatabaseError as error:
        logger.warning("left the trial for session %s, the database failed: %s", session_id, error)
    except Exception as error:
        logger.exception("the trial for session %s failed", session_id)
        _fail(mine, f"The trial failed inside schedviz ({type(error).__name__}). The server's log has the details.")
    finally:
        LEASE_RENEWER.drop(mine)


def _record(mine: Lease, experiment_id: UUID, number: int) -> None:
    experiment = Experiment.objects.filter(pk=experiment_id).first()
    base = ExperimentBase.objects.filter(pk=experiment_id).first()
    if experiment is None or base is None:
        _fail(mine, "The experiment of this trial was deleted.")
        return
    lease.try_update(mine, progress={"phase": "running the trial", "done": 0, "total": None, "unit": ""})
    read = parse_plan(experiment.plan)
    waiting = Session.objects.filter(pk=mine.session_id, epoch=mine.epoch, status=Session.Status.IMPORTING, cancel_requested=False)
    stop_check = StopCheck(waiting.exists, every_seconds=_POLL_SECONDS)
    file = trial_session(read.trials[number], BaseCluster.unpack(bytes(base.data)), read.plan, stop=stop_check.should_stop)
    # Chunks that an earlier worker stored before it crashed have another key.
    Upload.objects.filter(session_id=mine.session_id).delete()
    store_upload(mine.session_id, new_cipher(mine.session_id), FILE, file)
    if lease.try_update(mine, uploaded=True, lease_owner="", lease_until=0.0, acquisitions=0):
        wakeups.notify_import(mine.session_id)


def _fail(mine: Lease, message: str) -> None:
    lease.try_update(mine, status=Session.Status.FAILED, message=message[:2000], progress=None, lease_owner="", lease_until=0.0)
    Upload.objects.filter(session_id=mine.session_id).delete()
    upload_keys.delete_key(mine.session_id)
