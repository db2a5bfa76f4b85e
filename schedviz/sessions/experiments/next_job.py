"""Which check or trial a free worker runs next. Users take turns: however much one has enqueued, others' experiments continue.

A task in the queue is only the turn of a worker. What it runs is chosen when it begins: a check before trials, and a trial of the user of
whom the fewest run, and among those of the one whose last trial ended first.
"""

from __future__ import annotations

from collections import Counter
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, Max, OuterRef, Q

from schedviz.sessions.experiments import checking, trial_job
from schedviz.sessions.experiments.trial_lease import CLAIMABLE
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.database import DatabaseSeconds

#: How often another worker may take what was chosen before the task gives up; the sweeper then enqueues it again.
_MAX_ATTEMPTS: Final = 3
_UNCHECKED: Final = Q(status=Experiment.Status.CHECKING) | ~Q(added_plan="")
_HELD: Final = ~Q(lease_owner="") & Q(lease_until__gte=DatabaseSeconds())


def run_next() -> None:
    """Run the next check or trial, if there is one."""
    for _ in range(_MAX_ATTEMPTS):
        if (job := _next_job()) is None:
            return
        experiment_id, number = job
        if checking.check(experiment_id) if number is None else trial_job.run(experiment_id, number):
            return


def _next_job() -> tuple[UUID, int | None] | None:
    """The experiment, and the number of the trial, or None for the check of its plan; None: there is nothing to do."""
    unchecked = list(Experiment.objects.filter(_UNCHECKED).exclude(_HELD).order_by("created_at").values_list("owner_id", "pk"))
    claimable = ExperimentTrial.objects.filter(CLAIMABLE, experiment=OuterRef("pk"))
    with_trials = Experiment.objects.filter(Exists(claimable), status=Experiment.Status.RUNNING)
    running = list(with_trials.order_by("created_at").values_list("owner_id", "pk"))
    owners = list(dict.fromkeys(owner for owner, _ in (*unchecked, *running)))
    if not owners:
        return None
    first = owners[0]
    if len(owners) > 1:
        # Sorting is stable: of equal users, the one with the oldest check or experiment.
        at_work, ended = _at_work(), _last_ended()
        first = min(owners, key=lambda owner: (at_work[owner], ended.get(owner, 0.0)))
    for owner, experiment_id in unchecked:
        if owner == first:
            return experiment_id, None
    experiment_id = next(pk for owner, pk in running if owner == first)
    trials = ExperimentTrial.objects.filter(CLAIMABLE, experiment_id=experiment_id).order_by("number")
    number = trials.values_list("number", flat=True).first()
    return None if number is None else (experiment_id, number)


def _at_work() -> Counter[int | None]:
    """How many checks and trials of each user run."""
    trials = ExperimentTrial.objects.filter(_HELD, status=ExperimentTrial.Status.RUNNING).values_list("experiment__owner_id", flat=True)
    checks = Experiment.objects.filter(_HELD, _UNCHECKED).values_list("owner_id", flat=True)
    return Counter([*trials, *checks])


def _last_ended() -> dict[int | None, float]:
    """When the last trial of each user with a running experiment ended."""
    running = ExperimentTrial.objects.filter(experiment__status=Experiment.Status.RUNNING, ended_at__isnull=False)
    rows = running.order_by().values(owner=F("experiment__owner_id")).annotate(last=Max("ended_at"))
    return {row["owner"]: row["last"].timestamp() for row in rows}
