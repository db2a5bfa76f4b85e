"""Checks the plan of a new experiment in a worker: loads its base, builds the engine of every variant, and makes the trials.

The trials of an experiment on hold wait until its owner resumes it; their time is estimated.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

import msgspec
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Now

from schedviz import __version__
from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.validation import CheckedPlan, check_plan, estimate
from schedviz.sessions import quotas
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.experiments.dispatch import notify_trials
from schedviz.sessions.experiments.requests import require_few_added
from schedviz.sessions.experiments.stop_check import StopCheck, TookTooLongError
from schedviz.sessions.experiments.trial_lease import LEASE_SECONDS, MAX_TRIES, RENEWAL_SECONDS
from schedviz.sessions.hosting.lease import new_owner
from schedviz.sessions.models import Experiment, ExperimentBase, ExperimentTrial, Membership, Session
from schedviz.sessions.queries.database import DatabaseSeconds
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.replay import replayer

logger = logging.getLogger(__name__)

#: No plan on a server names files.
_NO_FOLDER = Path("/nonexistent")
_BATCH_ROWS = 1000
#: Checking builds an engine for each variant, and a session's engine may have to be replayed.
_CHECK_LEASE_SECONDS = 10 * LEASE_SECONDS


def check(experiment_id: UUID) -> bool:
    """Check a new or extended plan, and start its trials. False: the plan is already checked, or another worker checks it."""
    experiment = _claim(experiment_id, Q(status=Experiment.Status.CHECKING))
    if experiment is None:
        return _check_added(experiment_id)
    held = Experiment.objects.filter(pk=experiment_id, epoch=experiment.epoch, status=Experiment.Status.CHECKING)
    checked = _check_text(held, experiment, experiment.plan, _refuse)
    if checked is not None and _begin(held, experiment, checked) and not experiment.hold:
        notify_trials(experiment_id)
    return True


def _check_added(experiment_id: UUID) -> bool:
    """Check a plan with more variants against the base that the trials have, and add its trials."""
    experiment = _claim(experiment_id, ~Q(added_plan=""))
    if experiment is None:
        return False
    held = Experiment.objects.filter(pk=experiment_id, epoch=experiment.epoch).exclude(added_plan="")
    base = ExperimentBase.objects.get(pk=experiment_id)
    checked = _check_text(held, experiment, experiment.added_plan, _refuse_added, base=base)
    if checked is not None and _add(held, experiment, checked):
        notify_trials(experiment_id)
    return True


def _claim(experiment_id: UUID, wanted: Q) -> Experiment | None:
    free = Q(lease_owner="") | Q(lease_until__lt=DatabaseSeconds())
    rows = Experiment.objects.filter(free, wanted, pk=experiment_id)
    owner = new_owner()
    lease = {"lease_owner": owner, "lease_until": DatabaseSeconds() + _CHECK_LEASE_SECONDS}
    if not rows.update(epoch=F("epoch") + 1, tries=F("tries") + 1, **lease):
        return None
    return Experiment.objects.filter(pk=experiment_id, lease_owner=owner).first()


def _check_text(
    held: QuerySet[Experiment],
    experiment: Experiment,
    plan: str,
    refuse: Callable[[QuerySet[Experiment], list[Fault]], None],
    *,
    base: ExperimentBase | None = None,
) -> CheckedPlan | None:
    """Parse and check a plan, against the stored base if there is one. None: it was refused, or the check was cancelled."""
    if experiment.tries > MAX_TRIES:
        refuse(held, [Fault("", f"{MAX_TRIES} workers ended while they checked the plan. Their logs have the reason.")])
        return None
    stop_check = StopCheck(
        lambda: bool(held.update(lease_until=DatabaseSeconds() + _CHECK_LEASE_SECONDS)),
        every_seconds=RENEWAL_SECONDS,
        limit_seconds=settings.TRIAL_SECONDS,
    )

    def between_variants() -> None:
        try:
            if stop_check.should_stop():
                raise _StoppedError
        except TookTooLongError:
            raise PlanError.of("", _took_too_long()) from None

    try:
        return check_plan(
            parse_plan(plan),
            _NO_FOLDER,
            session=lambda name, event: _session_cluster(experiment, name, event),
            base=None if base is None else BaseCluster.unpack(bytes(base.data)),
            between_variants=between_variants,
            require_few_added=require_few_added,
        )
    except _StoppedError:
        pass
    except PlanError as error:
        refuse(held, error.faults)
    except SoftTimeLimitExceeded:
        refuse(held, [Fault("", _took_too_long())])
    except MemoryError:
        limit = f"{settings.IMPORT_MEGABYTES} MB of memory, which SCHEDVIZ_IMPORT_MEGABYTES allows"
        refuse(held, [Fault("", f"the check needed more than {limit}; use fewer nodes, pods or variants")])
    except DatabaseError:
        # Another worker tries again.
        raise
    except Exception as error:
        # A bug, so another attempt would fail in the same way.
        logger.exception("the check of experiment %s failed", experiment.pk)
        refuse(held, [Fault("", f"schedviz failed ({type(error).__name__}). The worker's log has the reason.")])
    return None


class _StoppedError(Exception):
    """The experiment was cancelled or deleted, or another worker checks its plan."""


def _took_too_long() -> str:
    return f"the check took longer than {settings.TRIAL_SECONDS:,} s, which SCHEDVIZ_TRIAL_SECONDS allows; use fewer variants or nodes"


def _session_cluster(experiment: Experiment, name: str, event: int | None) -> BaseCluster:
    """The cluster of a session, which the experiment's owner may see, at an event. Raises `PlanError`."""
    session = _visible_session(experiment, name)
    if session is None:
        raise PlanError.of("base.session", f"there is no session {name!r} that you may see")
    at = session.event if event is None else event
    try:
        simulation = replayer.engine_at(session.pk, min(at, session.event), between_units=lambda _: None)
    except (HistoryUnavailable, ReplayDiverged) as error:
        raise PlanError.of("base.session", str(error)) from None
    return BaseCluster(list(simulation.stored_objects()), msgspec.structs.replace(simulation.settings, config=simulation.config))


def _visible_session(experiment: Experiment, name: str) -> Session | None:
    try:
        session_id = UUID(name)
    except ValueError:
        return None
    may_see = Q(owner_id=experiment.owner_id)
    if experiment.owner_id is not None:
        may_see |= Q(pk__in=Membership.objects.filter(user_id=experiment.owner_id).values("session_id"))
    return Session.objects.filter(may_see, pk=session_id, status__in=Session.OPEN_STATUSES).first()


def _begin(held: QuerySet[Experiment], experiment: Experiment, checked: CheckedPlan) -> bool:
    """Store the base and the trials, and start them or hold them; False if this worker lost the lease, the experiment was cancelled, or
    its owner has too little room for the base.
    """
    data = checked.base.pack()
    try:
        quotas.require_quota(experiment.owner_id, bytes=len(data))
    except QuotaReached as reached:
        _refuse(held, [Fault("base", str(reached))])
        return False
    with transaction.atomic():
        started = held.update(
            status=Experiment.Status.PAUSED if experiment.hold else Experiment.Status.RUNNING,
            estimate=estimate(checked).seconds_per_trial if experiment.hold else None,
            measures=[msgspec.to_builtins(each.info) for each in checked.measures],
            nodes=checked.base.nodes,
            pods=checked.base.pending,
            stored_bytes=F("stored_bytes") + len(data),
            engine_version=__version__,
            started_at=Now(),
            lease_owner="",
            lease_until=0.0,
        )
        if not started:
            return False
        ExperimentBase.objects.create(experiment=experiment, data=data)
        ExperimentTrial.objects.bulk_create(_rows_of(experiment, checked.trials), batch_size=_BATCH_ROWS)
    return True


def _refuse(held: QuerySet[Experiment], faults: list[Fault]) -> None:
    held.update(status=Experiment.Status.REFUSED, faults=msgspec.to_builtins(faults), ended_at=Now(), lease_owner="", lease_until=0.0)


def _add(held: QuerySet[Experiment], experiment: Experiment, checked: CheckedPlan) -> bool:
    """Store the new plan and its trials; False if this worker lost the lease, or the experiment was cancelled."""
    with transaction.atomic():
        running = Experiment.Status.RUNNING
        added = held.exclude(status=Experiment.Status.CANCELLED).update(
            plan=experiment.added_plan,
            added_plan="",
            name=checked.plan.name,
            trials=len(checked.trials),
            stored_bytes=F("stored_bytes") + len(experiment.added_plan) - len(experiment.plan),
            status=Case(When(status=Experiment.Status.FINISHED, then=Value(running)), default=F("status")),
            ended_at=None,
            lease_owner="",
            lease_until=0.0,
        )
        if not added:
            _refuse_added(held, [])
            return False
        ExperimentTrial.objects.bulk_create(_rows_of(experiment, checked.trials[experiment.trials :]), batch_size=_BATCH_ROWS)
    return True


def _refuse_added(held: QuerySet[Experiment], faults: list[Fault]) -> None:
    held.update(added_plan="", faults=msgspec.to_builtins(faults), lease_owner="", lease_until=0.0)


def _rows_of(experiment: Experiment, trials: Sequence[Trial]) -> list[ExperimentTrial]:
    return [ExperimentTrial(experiment=experiment, number=trial.number, variant=trial.variant.name, seed=trial.seed) for trial in trials]
