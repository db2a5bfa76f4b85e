"""Checks the plan of a new experiment in a worker: loads its base, builds the engine of every variant, and makes the trials."""

from __future__ import annotations

import logging
from pathlib import Path
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from schedviz import __version__
from schedviz.experiments.base import BaseCluster
from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.reading import parse_plan
from schedviz.experiments.validation import CheckedPlan, check_plan
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.experiments.trial_lease import LEASE_SECONDS, MOST_TRIES, new_owner
from schedviz.sessions.experiments.waking import notify_trials
from schedviz.sessions.models import Experiment, ExperimentBase, ExperimentTrial, Membership, Session
from schedviz.sessions.queries.database import DatabaseSeconds
from schedviz.sessions.replay import replayer

logger = logging.getLogger(__name__)

#: No plan on a server names files.
_NO_FOLDER = Path("/nonexistent")
_ROWS = 1000
#: Checking builds an engine for each variant, and a session's engine may have to be replayed.
_SECONDS = 10 * LEASE_SECONDS


def check(experiment_id: UUID) -> None:
    """Check a plan, and start its trials. Does nothing if the experiment is checked, or another worker does it."""
    experiment = _claim(experiment_id)
    if experiment is None:
        return
    own_experiment = Experiment.objects.filter(pk=experiment_id, epoch=experiment.epoch, status=Experiment.Status.CHECKING)
    if experiment.tries > MOST_TRIES:
        _refuse(own_experiment, [Fault("", f"{MOST_TRIES} workers ended while they checked the plan. Their logs have the reason.")])
        return
    try:
        checked = check_plan(parse_plan(experiment.plan), _NO_FOLDER, session=lambda name, event: _base_of(experiment, name, event))
    except PlanError as error:
        _refuse(own_experiment, error.faults)
        return
    if _begin(own_experiment, experiment, checked):
        notify_trials(experiment_id)


def _claim(experiment_id: UUID) -> Experiment | None:
    free = Q(lease_owner="") | Q(lease_until__lt=DatabaseSeconds())
    rows = Experiment.objects.filter(free, pk=experiment_id, status=Experiment.Status.CHECKING)
    owner = new_owner()
    lease = {"lease_owner": owner, "lease_until": DatabaseSeconds() + _SECONDS}
    if not rows.update(epoch=F("epoch") + 1, tries=F("tries") + 1, **lease):
        return None
    return Experiment.objects.filter(pk=experiment_id, lease_owner=owner).first()


def _refuse(own_experiment: QuerySet[Experiment], faults: list[Fault]) -> None:
    own_experiment.update(
        status=Experiment.Status.REFUSED, faults=msgspec.to_builtins(faults), ended_at=Now(), lease_owner="", lease_until=0.0
    )


def _begin(own_experiment: QuerySet[Experiment], experiment: Experiment, checked: CheckedPlan) -> bool:
    """Store the base and the trials, and start them; False if this worker lost the lease, or the experiment was cancelled."""
    with transaction.atomic():
        started = own_experiment.update(
            status=Experiment.Status.RUNNING,
            measures=[msgspec.to_builtins(measure.info) for measure in checked.measures],
            nodes=checked.base.nodes,
            pods=checked.base.pending,
            engine_version=__version__,
            started_at=Now(),
            lease_owner="",
            lease_until=0.0,
        )
        if not started:
            return False
        ExperimentBase.objects.create(experiment=experiment, data=checked.base.pack())
        trials = [
            ExperimentTrial(experiment=experiment, number=trial.number, variant=trial.variant.name, seed=trial.seed)
            for trial in checked.trials
        ]
        ExperimentTrial.objects.bulk_create(trials, batch_size=_ROWS)
    return True


def _base_of(experiment: Experiment, name: str, event: int | None) -> BaseCluster:
    """The cluster of a session, which the experiment's owner may see, at an event. Raises `PlanError`."""
    session = _session(experiment, name)
    if session is None:
        raise PlanError.of("base.session", f"there is no session {name!r} that you may see")
    base_event = session.event if event is None else event
    try:
        simulation = replayer.engine_at(session.pk, min(base_event, session.event), between_units=lambda _: None)
    except (HistoryUnavailable, ReplayDiverged) as error:
        raise PlanError.of("base.session", str(error)) from None
    settings = msgspec.structs.replace(simulation.settings, config=simulation.config)
    return BaseCluster(list(simulation.stored_objects()), settings)


def _session(experiment: Experiment, name: str) -> Session | None:
    try:
        session_id = UUID(name)
    except ValueError:
        return None
    may_see = Q(owner_id=experiment.owner_id)
    if experiment.owner_id is not None:
        may_see |= Q(pk__in=Membership.objects.filter(user_id=experiment.owner_id).values("session_id"))
    ready = [Session.Status.READY, Session.Status.RUNNING, Session.Status.PAUSED]
    return Session.objects.filter(may_see, pk=session_id, status__in=ready).first()
