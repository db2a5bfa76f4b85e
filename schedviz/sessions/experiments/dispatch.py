"""Enqueues the tasks of experiments. A task may be lost or duplicated without harm."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import redis
from django.db.models import BooleanField, ExpressionWrapper, Q

from schedviz.sessions.experiments.trial_lease import CLAIMABLE, close_if_done
from schedviz.sessions.interval import Interval
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries import prepared
from schedviz.sessions.redis import stream, wakeups

CHECK: Final = "schedviz.check_experiment"
TRIAL: Final = "schedviz.run_trial"
QUEUE: Final = "experiments"
#: Tasks in the queue at a time, of all users: a task chooses what it runs when it begins, so more are not needed. The sweeper adds the next
#: ones when they are done.
_MAX_ENQUEUED: Final = 64
_sweep_interval = Interval(2.0)


def notify_check(experiment_id: UUID) -> None:
    """Enqueue the check of a new experiment's plan."""
    if _free_places():
        wakeups.enqueue(CHECK, str(experiment_id), queue=QUEUE)


def notify_trials(experiment_id: UUID) -> int:
    """Enqueue tasks for the next trials of a running experiment that no worker has. Returns how many such trials there are, at most 64."""
    rows = ExperimentTrial.objects.filter(CLAIMABLE, experiment_id=experiment_id, experiment__status=Experiment.Status.RUNNING)
    numbers = list(rows.order_by("number").values_list("number", flat=True)[:_MAX_ENQUEUED])
    for number in numbers[: _free_places()]:
        if not wakeups.enqueue(TRIAL, str(experiment_id), number, queue=QUEUE):
            break
    return len(numbers)


def sweep(*, force: bool = False) -> None:
    """Enqueue what has no live worker, if the queue is empty: its tasks were done or lost. Idempotent.

    Does nothing within 2 s of the last sweep, unless `force`.
    """
    if not _sweep_interval.is_due(force=force):
        return
    statuses = [Experiment.Status.CHECKING, Experiment.Status.RUNNING]
    if not prepared.has_unfinished_experiment(statuses):
        return
    wanted = Q(status__in=statuses) | ~Q(added_plan="")
    is_unchecked = Q(status=Experiment.Status.CHECKING) | ~Q(added_plan="")
    rows = Experiment.objects.filter(wanted).annotate(is_unchecked=ExpressionWrapper(is_unchecked, BooleanField()))
    found = list(rows.order_by("created_at").values_list("pk", "is_unchecked", "status"))
    if not found or _free_places() < _MAX_ENQUEUED:
        return
    for experiment_id, is_unchecked, status in found:
        if is_unchecked:
            notify_check(experiment_id)
        if status == Experiment.Status.RUNNING and not notify_trials(experiment_id):
            close_if_done(experiment_id)


def _free_places() -> int:
    """How many tasks may be enqueued now; none without Redis."""
    try:
        return max(0, _MAX_ENQUEUED - int(stream.client().llen(QUEUE)))
    except redis.RedisError:
        return 0
