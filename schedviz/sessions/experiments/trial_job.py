"""Runs a trial in a worker: claim · load the plan and the base, once in each process · run · store.

A trial that has begun ends and is stored, even if the quota of bytes is reached meanwhile; no other begins.
"""

from __future__ import annotations

import logging
import time
from typing import Final
from uuid import UUID

import msgspec
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from schedviz.experiments.errors import PlanError
from schedviz.experiments.trials.pool import TrialRunner
from schedviz.experiments.trials.run_trial import TrialStopped
from schedviz.experiments.trials.trial_result import TrialResult
from schedviz.sessions.experiments import trial_lease
from schedviz.sessions.experiments.reading import pack_detail, pack_result
from schedviz.sessions.experiments.requests import pause_if_full
from schedviz.sessions.experiments.stop_check import StopCheck, TookTooLongError
from schedviz.sessions.experiments.trial_lease import MAX_TRIES, RENEWAL_SECONDS, TrialLease
from schedviz.sessions.models import Experiment, ExperimentBase

logger = logging.getLogger(__name__)

#: The runner of the last experiment of this process, by the number of its trials, which grows when variants are added. Trials of one
#: experiment follow each other.
_runners: Final[dict[tuple[UUID, int], TrialRunner]] = {}


def run(experiment_id: UUID, number: int) -> bool:
    """Run a trial and store its result. False: it is done, another worker has it, or the experiment is not running."""
    lease = trial_lease.claim(experiment_id, number)
    if lease is None:
        return False
    _run(lease, experiment_id, number)
    return True


def _run(lease: TrialLease, experiment_id: UUID, number: int) -> None:
    if lease.tries > MAX_TRIES:
        message = f"{MAX_TRIES} workers ended while they ran this trial. Their logs have the reason; it may need too much memory."
        _store(lease, TrialResult(number, error=message), 0.0)
        return
    if pause_if_full(experiment_id):
        trial_lease.release(lease)
        return
    began = time.perf_counter()
    try:
        stop_check = StopCheck(lambda: trial_lease.renew(lease), every_seconds=RENEWAL_SECONDS, limit_seconds=settings.TRIAL_SECONDS)
        result = _runner(experiment_id).run(number, stop=stop_check.should_stop)
    except TrialStopped:
        trial_lease.release(lease)
        return
    except (TookTooLongError, SoftTimeLimitExceeded):
        message = f"the trial took longer than {settings.TRIAL_SECONDS:,} s, which SCHEDVIZ_TRIAL_SECONDS allows; give it `limits`"
        result = TrialResult(number, error=message)
    except PlanError as error:
        # Its seed draws values that the plan does not allow. Only the first trial of each variant was checked before.
        result = TrialResult(number, error=str(error))
    except Exception as error:
        # A bug or too little memory, so another attempt would fail in the same way.
        logger.exception("trial %s of experiment %s failed", number, experiment_id)
        result = TrialResult(number, error=f"schedviz failed ({type(error).__name__}). The worker's log has the reason.")
    if result.traceback:
        # Paths of the server must not reach users.
        logger.error("trial %s of experiment %s: %s\n%s", number, experiment_id, result.error, result.traceback)
        result = msgspec.structs.replace(result, traceback="")
    _store(lease, result, time.perf_counter() - began)


def _runner(experiment_id: UUID) -> TrialRunner:
    plan, trials = Experiment.objects.values_list("plan", "trials").get(pk=experiment_id)
    key = (experiment_id, trials)
    if key not in _runners:
        _runners.clear()
        base = ExperimentBase.objects.get(pk=experiment_id).data
        _runners[key] = TrialRunner.of(plan, bytes(base))
    return _runners[key]


def _store(lease: TrialLease, result: TrialResult, seconds: float) -> None:
    stored = trial_lease.store(
        lease, result=pack_result(result), detail=pack_detail(result), volatile=result.volatile, error=result.error, seconds=seconds
    )
    if not stored:
        logger.info("the result of trial %s was dropped: another worker has the trial", lease.number)
