"""Operations of users on experiments: create, pause, resume, cancel and delete. Runs in the web server, without the engine."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import transaction

from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.plans.extending import validate_added
from schedviz.experiments.plans.plan import Code
from schedviz.experiments.plans.plan_text import PlanText, parse_plan
from schedviz.sessions import quotas
from schedviz.sessions.errors import SessionError
from schedviz.sessions.experiments.dispatch import notify_check, notify_trials
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.database import wait_for_lock
from schedviz.sessions.quotas import QuotaReached
from schedviz.trace.config_credentials import credentials_in

#: The number of the advisory lock under which experiments are created.
_CREATION_LOCK: Final = 7_293_002
_UNENDED: Final = (Experiment.Status.CHECKING, Experiment.Status.RUNNING, Experiment.Status.PAUSED)
_EXTENSIBLE: Final = (Experiment.Status.RUNNING, Experiment.Status.PAUSED, Experiment.Status.FINISHED)


class TooManyExperiments(SessionError):
    """A user has as many experiments as the server allows."""

    code = "quota_reached"


class NotPossible(SessionError):
    """The experiment's status does not allow this."""

    code = "conflict"


def create_experiment(owner_id: int | None, plan: str, *, hold: bool = False) -> Experiment:
    """Store a plan whose form is right; a worker checks the rest, and runs the trials, or with `hold` estimates their time.

    Raises `PlanError` with lines, `TooManyExperiments` and `QuotaReached`. Its base is a session or a generator: a server reads no files.
    """
    read = _parse_for_server(plan)
    quotas.require_quota(owner_id, bytes=len(plan))
    with transaction.atomic():
        wait_for_lock(_CREATION_LOCK)
        limit = settings.EXPERIMENTS_PER_USER
        if limit and Experiment.objects.filter(owner_id=owner_id).count() >= limit:
            raise TooManyExperiments(f"You have {limit:,} experiments, which SCHEDVIZ_EXPERIMENTS_PER_USER allows. Delete one first.")
        experiment = Experiment.objects.create(
            owner_id=owner_id, name=read.plan.name, plan=plan, trials=len(read.trials), hold=hold, stored_bytes=len(plan)
        )
    notify_check(experiment.pk)
    return experiment


def _parse_for_server(plan: str) -> PlanText:
    """A plan of the right form that a server can run. Raises `PlanError` with lines."""
    read = parse_plan(plan)
    for path, files in (("base.files", read.plan.base.files), ("workload.files", read.plan.workload.files)):
        if files is not None:
            message = "a server reads no files: create a session from them, and use `base: {session: ID}`"
            raise read.located(PlanError.of(path, message))
    for path in credentials_in(read.nodes.document):
        raise read.located(PlanError.of(path, "it has credentials, which schedviz neither uses nor stores: remove them"))
    if read.plan.code != Code():
        message = "a server runs no code of plans: install its plugins and measures as a package next to schedviz (docs/plugins.md)"
        raise read.located(PlanError.of("code", message))
    if read.plan.tune is not None:
        message = "a server does not search: run `schedviz experiment tune`, or remove the member and let the server run the variants"
        raise read.located(PlanError.of("tune", message))
    trials = len(read.trials)
    if trials > settings.EXPERIMENT_TRIALS:
        message = f"the plan has {trials:,} trials; SCHEDVIZ_EXPERIMENT_TRIALS allows {settings.EXPERIMENT_TRIALS:,} on this server"
        raise read.located(PlanError.of("seeds" if read.plan.seeds else "variants", message))
    _validate_cluster_sizes(read)
    return read


def add_variants(experiment: Experiment, plan: str) -> None:
    """Replace the plan with one that has more trials; a worker checks it, and runs the new ones.

    Raises `PlanError` with lines, `QuotaReached`, and `NotPossible` unless the experiment is running, paused or finished.
    """
    validate_added(parse_plan(experiment.plan), _parse_for_server(plan))
    quotas.require_quota(experiment.owner_id, bytes=len(plan))
    rows = Experiment.objects.filter(pk=experiment.pk, status__in=_EXTENSIBLE, added_plan="", plan=experiment.plan)
    if not rows.update(added_plan=plan, faults=[], tries=0):
        if Experiment.objects.filter(pk=experiment.pk, status__in=_EXTENSIBLE).exists():
            raise NotPossible("Other variants are being added to the experiment; try again in a moment.")
        raise _not_possible(experiment.pk, "given more variants")
    notify_check(experiment.pk)


def _validate_cluster_sizes(read: PlanText) -> None:
    """The limits of generated clusters hold here, too, and for nodes that variants add. Raises `PlanError`."""
    for path, spec in (("base.generate", read.plan.base.generate), ("workload.generate", read.plan.workload.generate)):
        if spec is not None:
            _validate_limit(read, f"{path}.nodes", spec.nodes, "GENERATE_NODES")
            _validate_limit(read, f"{path}.pods", spec.pods, "GENERATE_PODS")
    for variant in read.variants:
        _validate_limit(read, f"{variant.path}.nodes", variant.patch.nodes.max_nodes, "GENERATE_NODES")


def _validate_limit(read: PlanText, path: str, asked: int | None, setting: str) -> None:
    allowed: int = getattr(settings, setting)
    if asked is not None and asked > allowed:
        raise read.located(PlanError.of(path, f"is {asked:,}; SCHEDVIZ_{setting} allows {allowed:,} on this server"))


def require_few_added(pods: int) -> None:
    """Raises `PlanError` if `workload.load` adds more pods to the workload than may be generated."""
    allowed: int = settings.GENERATE_PODS
    if pods > allowed:
        message = f"{pods:,} pods would be added to reach the share; SCHEDVIZ_GENERATE_PODS allows {allowed:,} on this server"
        raise PlanError.of("workload.load.share", message)


def pause(experiment_id: UUID) -> None:
    """Stop running trials; they start again from their beginning. Raises `NotPossible`."""
    _set_status(experiment_id, Experiment.Status.RUNNING, Experiment.Status.PAUSED, "paused")


def pause_if_full(experiment_id: UUID) -> bool:
    """Pause an experiment, with the reason in its faults, if the quota of bytes has no space for another result. Workers call this before
    each trial. Returns whether it is full.
    """
    try:
        _require_space(experiment_id)
    except QuotaReached as reached:
        faults = msgspec.to_builtins([Fault("", str(reached))])
        running = Experiment.objects.filter(pk=experiment_id, status=Experiment.Status.RUNNING)
        running.update(status=Experiment.Status.PAUSED, faults=faults)
        return True
    return False


def resume(experiment_id: UUID) -> None:
    """Continue after a pause. Raises `QuotaReached` and `NotPossible`."""
    _require_space(experiment_id)
    _set_status(experiment_id, Experiment.Status.PAUSED, Experiment.Status.RUNNING, "resumed", faults=[])
    notify_trials(experiment_id)


def _require_space(experiment_id: UUID) -> None:
    owner_id = Experiment.objects.filter(pk=experiment_id).values_list("owner_id", flat=True).first()
    quotas.require_quota(owner_id, bytes=1)


def cancel(experiment_id: UUID) -> None:
    """End an experiment. The results of trials that are done are kept. Raises `NotPossible`."""
    if not Experiment.objects.filter(pk=experiment_id, status__in=_UNENDED).update(status=Experiment.Status.CANCELLED):
        raise _not_possible(experiment_id, "cancelled")


def delete(experiment_id: UUID) -> None:
    """Delete an experiment with its results. Workers that run its trials notice that their rows are gone."""
    while numbers := list(ExperimentTrial.objects.filter(experiment_id=experiment_id).values_list("pk", flat=True)[:500]):
        ExperimentTrial.objects.filter(pk__in=numbers).delete()
    Experiment.objects.filter(pk=experiment_id).delete()


def _set_status(experiment_id: UUID, before: str, after: str, done: str, **members: object) -> None:
    if not Experiment.objects.filter(pk=experiment_id, status=before).update(status=after, **members):
        raise _not_possible(experiment_id, done)


def _not_possible(experiment_id: UUID, done: str) -> NotPossible:
    status = Experiment.objects.filter(pk=experiment_id).values_list("status", flat=True).first()
    return NotPossible(f"The experiment is {status}, so it cannot be {done}.")
