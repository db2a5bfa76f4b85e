"""What users do with experiments: create, pause, resume, cancel and delete them. Runs in the web server, without the engine."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from schedviz.experiments.errors import PlanError
from schedviz.experiments.reading import parse_plan
from schedviz.experiments.trials import trials_of
from schedviz.sessions.errors import SessionError
from schedviz.sessions.experiments.waking import notify_check, notify_trials
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.database import wait_for_lock

#: The largest plan, in characters.
LONGEST_PLAN: Final = 256 * 1024
#: The number of the lock for creating experiments.
_CREATING: Final = 7_293_002
_UNENDED: Final = (Experiment.Status.CHECKING, Experiment.Status.RUNNING, Experiment.Status.PAUSED)


class TooManyExperiments(SessionError):
    """A user has as many experiments as the server allows."""

    code = "quota_reached"


class NotPossible(SessionError):
    """The experiment's status does not allow this."""

    code = "conflict"


def create_experiment(owner_id: int | None, plan: str) -> Experiment:
    """Store a well-formed plan; a worker validates the rest.

    Raises `PlanError` with lines, and `TooManyExperiments`. A plan here has no files: a session or a generator is its base.
    """
    read = parse_plan(plan)
    for path, files in (("base.files", read.plan.base.files), ("workload.files", read.plan.workload.files)):
        if files is not None:
            message = "a server reads no files: create a session from them, and use `base: {session: ID}`"
            raise read.located(PlanError.of(path, message))
    trials = len(trials_of(read.plan, read.variants))
    if trials > settings.EXPERIMENT_TRIALS:
        message = f"the plan has {trials:,} trials; SCHEDVIZ_EXPERIMENT_TRIALS allows {settings.EXPERIMENT_TRIALS:,} on this server"
        raise read.located(PlanError.of("seeds" if read.plan.seeds else "variants", message))
    with transaction.atomic():
        wait_for_lock(_CREATING)
        limit = settings.EXPERIMENTS_PER_USER
        if limit and Experiment.objects.filter(owner_id=owner_id).count() >= limit:
            raise TooManyExperiments(f"You have {limit:,} experiments, which SCHEDVIZ_EXPERIMENTS_PER_USER allows. Delete one first.")
        experiment = Experiment.objects.create(owner_id=owner_id, name=read.plan.name, plan=plan, trials=trials)
    notify_check(experiment.pk)
    return experiment


def pause(experiment_id: UUID) -> None:
    """Stop running trials; they start again from their beginning. Raises `NotPossible`."""
    _change(experiment_id, Experiment.Status.RUNNING, Experiment.Status.PAUSED, "paused")


def resume(experiment_id: UUID) -> None:
    """Continue after a pause. Raises `NotPossible`."""
    _change(experiment_id, Experiment.Status.PAUSED, Experiment.Status.RUNNING, "resumed")
    notify_trials(experiment_id)


def cancel(experiment_id: UUID) -> None:
    """End an experiment. The results of trials that are done are kept. Raises `NotPossible`."""
    if not Experiment.objects.filter(pk=experiment_id, status__in=_UNENDED).update(status=Experiment.Status.CANCELLED):
        raise _not_possible(experiment_id, "cancelled")


def delete(experiment_id: UUID) -> None:
    """Delete an experiment with its results. Workers that run its trials notice that their rows were deleted."""
    while numbers := list(ExperimentTrial.objects.filter(experiment_id=experiment_id).values_list("pk", flat=True)[:500]):
        ExperimentTrial.objects.filter(pk__in=numbers).delete()
    Experiment.objects.filter(pk=experiment_id).delete()


def _change(experiment_id: UUID, before: str, after: str, done: str) -> None:
    if not Experiment.objects.filter(Q(status=before), pk=experiment_id).update(status=after):
        raise _not_possible(experiment_id, done)


def _not_possible(experiment_id: UUID, done: str) -> NotPossible:
    status = Experiment.objects.filter(pk=experiment_id).values_list("status", flat=True).first()
    return NotPossible(f"The experiment is {status}, so it cannot be {done}.")
