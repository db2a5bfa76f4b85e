"""The lease of a trial: the right to store its result. It is fenced by the epoch, as that of a session is (hosting/lease.py).

The result of a trial is stored once, even if workers are killed: only the owner of its last epoch can store a result, and only while the
trial has none.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest, Now

from schedviz.sessions.hosting.lease import new_owner
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.database import DatabaseSeconds

#: After this long without a renewal, another worker may take the trial. Loading a large base takes some seconds without renewals.
LEASE_SECONDS: Final = 30.0
RENEWAL_SECONDS: Final = 5.0
#: After this many owners have crashed, the trial fails.
MAX_TRIES: Final = 5

#: Trials without a result that no live worker has.
CLAIMABLE: Final = Q(status=ExperimentTrial.Status.WAITING) | Q(status=ExperimentTrial.Status.RUNNING, lease_until__lt=DatabaseSeconds())


class TrialLease(msgspec.Struct, frozen=True):
    """The right to store a trial's result, valid while its epoch is this one."""

    pk: int
    experiment_id: UUID
    number: int
    owner: str
    epoch: int
    tries: int


def claim(experiment_id: UUID, number: int) -> TrialLease | None:
    """Take a trial; None if a live worker has it, it is done, or its experiment is not running."""
    running = Experiment.Status.RUNNING
    pk = (
        ExperimentTrial.objects.filter(CLAIMABLE, experiment_id=experiment_id, experiment__status=running, number=number)
        .values_list("pk", flat=True)
        .first()
    )
    if pk is None:
        return None
    owner = new_owner()
    # Only columns of this row: PostgreSQL checks them again if it had to wait for another claim.
    claimed = ExperimentTrial.objects.filter(CLAIMABLE, pk=pk).update(
        status=ExperimentTrial.Status.RUNNING,
        epoch=F("epoch") + 1,
        tries=F("tries") + 1,
        lease_owner=owner,
        lease_until=DatabaseSeconds() + LEASE_SECONDS,
    )
    if not claimed:
        return None
    row = ExperimentTrial.objects.filter(pk=pk, lease_owner=owner).first()
    return None if row is None else TrialLease(pk, experiment_id, number, owner, row.epoch, row.tries)


def renew(lease: TrialLease) -> bool:
    """Renew the lease; False if it was lost, or the experiment was paused or cancelled."""
    held_trials = _held(lease).filter(experiment__status=Experiment.Status.RUNNING)
    return ExperimentTrial.objects.filter(pk__in=held_trials.values("pk")).update(lease_until=DatabaseSeconds() + LEASE_SECONDS) == 1


def store(lease: TrialLease, *, result: bytes, volatile: dict[str, float], error: str, seconds: float, detail: bytes = b"") -> bool:
    """Store the result, and close the experiment after its last trial; False if the lease was lost: the result is dropped."""
    with transaction.atomic():
        stored = _held(lease).update(
            status=ExperimentTrial.Status.DONE,
            result=result,
            detail=detail,
            volatile=volatile,
            error=error,
            seconds=seconds,
            ended_at=Now(),
            lease_owner="",
            lease_until=0.0,
        )
        if stored:
            Experiment.objects.filter(pk=lease.experiment_id).update(stored_bytes=F("stored_bytes") + len(result) + len(detail))
    if stored:
        close_if_done(lease.experiment_id)
    return stored == 1


def close_if_done(experiment_id: UUID) -> bool:
    """Finish an experiment without undone trials. It is called after the commit of each result, so that the last caller sees all."""
    undone = ExperimentTrial.objects.filter(experiment=OuterRef("pk")).exclude(status=ExperimentTrial.Status.DONE)
    running = Experiment.objects.filter(~Exists(undone), pk=experiment_id, status=Experiment.Status.RUNNING)
    return running.update(status=Experiment.Status.FINISHED, ended_at=Now()) == 1


def release(lease: TrialLease) -> None:
    """Release a trial that was interrupted gracefully: this attempt does not count."""
    _held(lease).update(status=ExperimentTrial.Status.WAITING, lease_owner="", lease_until=0.0, tries=Greatest(F("tries") - 1, 0))


def clear_owner(prefix: str, *, but: str = "", killed_externally: bool = False) -> None:
    """Clear the leases of a process that has ended; see hosting/lease.py."""
    for model in (ExperimentTrial, Experiment):
        rows = model._default_manager.filter(lease_owner__startswith=f"{prefix}.")
        rows = rows.exclude(lease_owner__startswith=f"{but}.") if but else rows
        tries = Greatest(F("tries") - 1, 0) if killed_externally else F("tries")
        rows.update(lease_owner="", lease_until=0.0, tries=tries)


def _held(lease: TrialLease) -> QuerySet[ExperimentTrial]:
    return ExperimentTrial.objects.filter(pk=lease.pk, epoch=lease.epoch, status=ExperimentTrial.Status.RUNNING)
