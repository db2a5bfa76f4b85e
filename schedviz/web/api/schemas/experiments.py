"""Experiments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from schedviz.web.api.schemas.body import Body

ExperimentStatus = Literal["checking", "running", "paused", "cancelled", "finished", "refused"]


class NewExperiment(Body, frozen=True, forbid_unknown_fields=True):
    """A plan in YAML (docs/experiments.md). Its base is a session or a generator."""

    plan: Annotated[str, Meta(min_length=1, max_length=256 * 1024)]
    #: Check the plan and estimate its time, and then wait for `resume/`.
    hold: bool = False


class PlanFault(Body, frozen=True):
    """Why a plan was refused: the path and the line of the value, and the variant that it is about; or why the server paused an experiment,
    with a message only.
    """

    path: str
    message: str
    line: int
    variant: str


class ExperimentBody(Body, frozen=True):
    """An experiment and its progress. `secondsPerTrial` is the mean of the trials that are done, or an estimate, and `remainingSeconds` an
    estimate while it runs.
    """

    id: str
    url: str
    page: str
    name: str
    status: ExperimentStatus
    #: Whether a worker has yet to check a plan with more variants.
    adding: bool
    faults: list[PlanFault]
    nodes: int
    pods: int
    trials: int
    #: How many trials have ended, including those that failed.
    done: int
    #: How many of the trials that are done failed. `error` in the results says why.
    failed: int
    running: int
    seconds_per_trial: float | None
    remaining_seconds: float | None
    owner: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class ExperimentList(Body, frozen=True):
    """A page of experiments, newest first."""

    results: list[ExperimentBody]
    next: str | None
    previous: str | None
    count: int
