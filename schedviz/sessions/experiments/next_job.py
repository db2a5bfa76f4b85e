"""Which check or trial a free worker runs next. Users take turns: however much one has enqueued, others' experiments continue.

A task in the queue is only the turn of a worker. What it runs is chosen when it begins: that of the user of whom the fewest checks and
trials run, and among those of the one who is due first; of that user, a check before trials. A user is due after a turn when as much time
has passed as it took, so that users with short trials have as much time as those with long ones.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

import redis
from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from schedviz.sessions.experiments import checking, trial_job
from schedviz.sessions.experiments.trial_lease import CLAIMABLE
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.database import DatabaseSeconds
from schedviz.sessions.redis import clock, stream

#: How often another worker may take what was chosen before the task gives up; the sweeper then enqueues it again.
_MAX_ATTEMPTS: Final = 3
#: How long it is remembered when a user is due.
_DUE_SECONDS: Final = 24 * 3600
#: A check or trial takes no longer, so nobody is due later than this.
_MAX_DUE_SECONDS: Final = settings.TRIAL_SECONDS + 60 if settings.TRIAL_SECONDS else _DUE_SECONDS
_UNCHECKED: Final = Q(status=Experiment.Status.CHECKING) | ~Q(added_plan="")
_HELD: Final = ~Q(lease_owner="") & Q(lease_until__gte=DatabaseSeconds())


def run_next() -> None:
    """Run the next check or trial, if there is one."""
    for _ in range(_MAX_ATTEMPTS):
        if (job := _next_job()) is None:
            return
        owner, experiment_id, number = job
        began = time.monotonic()
        # Also if this process ends in it.
        _set_due(owner)
        if checking.check(experiment_id) if number is None else trial_job.run(experiment_id, number):
            _set_due(owner, in_seconds=time.monotonic() - began)
            return


def _next_job() -> tuple[int | None, UUID, int | None] | None:
    """The user, the experiment, and the number of the trial, or None for the check of the plan; None: there is nothing to do."""
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
        at_work, due = _at_work(), _due(owners)
        first = min(owners, key=lambda owner: (at_work[owner], due[owner]))
    for owner, experiment_id in unchecked:
        if owner == first:
            return owner, experiment_id, None
    experiment_id = next(pk for owner, pk in running if owner == first)
    trials = ExperimentTrial.objects.filter(CLAIMABLE, experiment_id=experiment_id).order_by("number")
    number = trials.values_list("number", flat=True).first()
    return None if number is None else (first, experiment_id, number)


def _at_work() -> Counter[int | None]:
    """How many checks and trials of each user run."""
    trials = ExperimentTrial.objects.filter(_HELD, status=ExperimentTrial.Status.RUNNING).values_list("experiment__owner_id", flat=True)
    checks = Experiment.objects.filter(_HELD, _UNCHECKED).values_list("owner_id", flat=True)
    return Counter([*trials, *checks])


def _due(owners: Sequence[int | None]) -> dict[int | None, float]:
    """When each of these users is due; 0 if it is not known. In Redis, so that plans that were deleted or refused after their check count,
    too.
    """
    try:
        times: Any = stream.client().mget([_due_key(owner) for owner in owners])
        latest = clock.seconds() + _MAX_DUE_SECONDS
    except redis.RedisError:
        return dict.fromkeys(owners, 0.0)
    # One that is later than any can be was stored before the clock was set back.
    return {owner: due if (due := float(stored or 0)) <= latest else 0.0 for owner, stored in zip(owners, times, strict=True)}


def _set_due(owner: int | None, *, in_seconds: float = 0.0) -> None:
    with suppress(redis.RedisError):
        stream.client().set(_due_key(owner), clock.seconds() + in_seconds, ex=_DUE_SECONDS)


def _due_key(owner: int | None) -> str:
    return f"schedviz:experiments:due:{owner}"
