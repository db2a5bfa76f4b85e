"""Runs a trial in a worker: claim · load the plan and the base, once in each process · run · store."""

from __future__ import annotations

import logging
import time
import traceback
from typing import Final
from uuid import UUID

from schedviz.experiments.pool import TrialRunner
from schedviz.experiments.running import TrialStopped
from schedviz.experiments.trial_result import TrialResult
from schedviz.sessions.experiments import trial_lease
from schedviz.sessions.experiments.reading import pack_detail, pack_result
from schedviz.sessions.experiments.trial_lease import MOST_TRIES, RENEWAL_SECONDS, TrialLease
from schedviz.sessions.models import Experiment, ExperimentBase

logger = logging.getLogger(__name__)

#: The runner of the last experiment of this process. Trials of one experiment follow each other.
_runners: Final[dict[UUID, TrialRunner]] = {}


def run(experiment_id: UUID, number: int) -> None:
    """Run a trial and store its result. Does nothing if it is done, another worker has it, or the experiment does not run."""
    lease = trial_lease.claim(experiment_id, number)
    if lease is None:
        return
    if lease.tries > MOST_TRIES:
        message = f"{MOST_TRIES} workers ended while they ran this trial. Their logs have the reason; it may need too much memory."
        _store(lease, TrialResult(number, error=message), 0.0)
        return
    began = time.perf_counter()
    try:
        result = _runner(experiment_id).run(number, stop=_LeaseWatch(lease).is_lost)
    except TrialStopped:
        trial_lease.give_back(lease)
        return
    except Exception as error:
        # A bug, or too little memory: it would happen again.
        logger.exception("trial %s of experiment %s failed", number, experiment_id)
        text = "".join(traceback.format_exception(error))
        result = TrialResult(number, error=f"schedviz failed: {type(error).__name__}: {error}"[:2000], traceback=text[-20_000:])
    _store(lease, result, time.perf_counter() - began)


class _LeaseWatch:
    """Renews the lease of a running trial periodically."""

    def __init__(self, lease: TrialLease) -> None:
        self._lease = lease
        self._due = time.monotonic() + RENEWAL_SECONDS

    def is_lost(self) -> bool:
        """Whether the trial must stop: another worker has it, or the experiment does not run any more."""
        if time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + RENEWAL_SECONDS
        return not trial_lease.renew(self._lease)


def _runner(experiment_id: UUID) -> TrialRunner:
    if experiment_id not in _runners:
        _runners.clear()
        plan = Experiment.objects.values_list("plan", flat=True).get(pk=experiment_id)
        base = ExperimentBase.objects.get(pk=experiment_id).data
        _runners[experiment_id] = TrialRunner.of(plan, bytes(base))
    return _runners[experiment_id]


def _store(lease: TrialLease, result: TrialResult, seconds: float) -> None:
    stored = trial_lease.store(
        lease, result=pack_result(result), detail=pack_detail(result), volatile=result.volatile, error=result.error, seconds=seconds
    )
    if not stored:
        logger.info("the result of trial %s was dropped: another worker has the trial", lease.number)
