"""`/api/v1/experiments/`: creates, lists, reads, pauses, cancels and deletes experiments, and opens their trials as sessions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import ClassVar, Final, cast
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.experiments.errors import PlanError
from schedviz.experiments.report import html_report
from schedviz.experiments.results.columnar import ColumnarResults, columnar
from schedviz.experiments.results.document import Results, encode_results
from schedviz.experiments.results.table import csv_of
from schedviz.sessions.experiments import reading, requests, trial_sessions
from schedviz.sessions.experiments.reading import Progress
from schedviz.sessions.experiments.requests import NotPossible, TooManyExperiments
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.web.accounts import demo
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for, body_as, one_of
from schedviz.web.api.endpoints.session_bodies import session_body
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, idempotent
from schedviz.web.api.late_results import late_results
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.paging import Paging
from schedviz.web.api.quota_errors import within_quotas
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.api.shared_computations import RESULTS, SharedComputations
from schedviz.web.auth.actors import Actor, Verb

PAGING: Final = Paging(None, default=50, maximum=500)
_FORMATS = ("json", "columns", "csv", "html")
#: The size of results, in pods of finished trials, up to which they take less than a tenth of a second and need no place.
_MAX_SMALL_RESULTS: Final = 20_000
#: What a trial counts besides its pods: it has a value in every column, also before it has run.
_PODS_OF_TRIAL: Final = 100
#: Plans are read one at a time: a large one takes most of a second of a core.
_PLANS: Final = SharedComputations(1)


class Experiments(Resource):
    """Your experiments."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    @extend_schema(
        operation_id="listExperiments",
        parameters=PAGING.parameters(),
        responses={200: response(schemas.ExperimentList), 304: NOT_MODIFIED, **error_responses(400, 401)},
    )
    def get(self, request: Request) -> Response:
        """List your experiments, newest first."""
        rows = _own(actor_for(request, Verb.LIST)).select_related("owner").defer("plan")
        page = PAGING.rows_of(request, rows, ("-created_at", "-pk"))
        listed = _bodies(request, page.rows)
        body = schemas.ExperimentList(results=listed, next=page.next, previous=page.previous, count=rows.count())
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(
        operation_id="createExperiment",
        request={"application/json": ref(schemas.NewExperiment)},
        parameters=[IDEMPOTENCY_KEY],
        responses={201: response(schemas.ExperimentBody), **error_responses(400, 401, 403, 409, 503)},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an experiment from a plan. Its form is checked at once; a worker then checks base and variants, and runs the trials."""
        actor = actor_for(request, Verb.CREATE)
        if demo.is_visitor(actor.user_id):
            raise ApiError(403, "forbidden", "Visitors of the public demo cannot run experiments.", hint="Sign in with an account.")
        new = body_as(schemas.NewExperiment, request)
        try:
            with _reading_plans(), within_quotas():
                experiment = requests.create_experiment(actor.user_id, new.plan, hold=new.hold)
        except PlanError as error:
            raise _refused(error) from error
        except TooManyExperiments as error:
            raise ApiError(409, error.code, str(error)) from error
        experiment.refresh_from_db()
        body = _body(request, experiment)
        return Response(body, status=201, headers={"Location": body.url})


class OneExperiment(Resource):
    """One experiment."""

    @extend_schema(
        operation_id="getExperiment", responses={200: response(schemas.ExperimentBody), 304: NOT_MODIFIED, **error_responses(404)}
    )
    def get(self, request: Request, experiment_id: UUID) -> Response:
        """Read an experiment and its progress."""
        body = _body(request, _find_or_404(request, experiment_id, Verb.LIST))
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(operation_id="deleteExperiment", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, experiment_id: UUID) -> Response:
        """Delete an experiment and its results. Sessions that were opened from its trials stay."""
        requests.delete(_find_or_404(request, experiment_id, Verb.CREATE).pk)
        return Response(status=204)


class ExperimentResults(Resource):
    """The results of an experiment."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="getExperimentResults",
        parameters=[
            query(
                "as",
                str,
                "json (the default), columns: the numbers alone, by column; csv with a line for each trial, or html: the report.",
                choices=_FORMATS,
            ),
            query("times", int, "0: leave out measured times, so that equal experiments give equal bytes.", maximum=1),
            query("series", int, "0: leave out the series, which are most of the JSON of many trials.", maximum=1),
        ],
        responses={
            (200, "application/json"): OpenApiResponse(
                {"anyOf": [ref(Results), ref(ColumnarResults)]},
                "The results (docs/experiments.md); by column with ?as=columns.",
            ),
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "A line for each trial."),
            (200, "text/html"): OpenApiResponse(OpenApiTypes.STR, "The report."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, experiment_id: UUID) -> HttpResponse:
        """Read the results of the trials that are done."""
        experiment = _find_or_404(request, experiment_id, Verb.LIST)
        form = one_of(request, "as", _FORMATS)
        done = reading.progress_of([experiment.pk]).get(experiment.pk, Progress()).done
        asked = request.query_params
        volatile, series = asked.get("times") != "0", asked.get("series") != "0"
        # A result is stored once: equal numbers, equal documents.
        key = ("results", experiment.pk, experiment.trials, done, form, volatile, series)
        read = partial(_document, experiment, form, done, volatile=volatile, series=series)
        try:
            size = experiment.trials * _PODS_OF_TRIAL + done * experiment.pods
            with late_results():
                document = read() if size <= _MAX_SMALL_RESULTS else RESULTS.once(key, read)
        except PlanError as error:
            message = f"This version cannot read the plan of the experiment: {error}"
            raise ApiError(409, "conflict", message) from error
        if form in ("csv", "html"):
            return _download(document, f"text/{form}", form)
        return HttpResponse(document, content_type="application/json")


class ExperimentVariants(Resource):
    """Adds variants to an experiment."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    @extend_schema(
        operation_id="addVariants",
        request={"application/json": ref(schemas.NewExperiment)},
        responses={200: response(schemas.ExperimentBody), **error_responses(400, 403, 404, 409, 503)},
    )
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """Replace the plan with one that has the same trials and then others. Only the new ones run.

        `adding` is true until a worker has checked the plan. If it refuses it, `faults` says why, and the experiment stays as it was.
        """
        experiment = _find_or_404(request, experiment_id, Verb.CREATE)
        new = body_as(schemas.NewExperiment, request)
        try:
            with _reading_plans(), within_quotas():
                requests.add_variants(experiment, new.plan)
        except PlanError as error:
            raise _refused(error) from error
        except NotPossible as error:
            raise ApiError(409, error.code, str(error)) from error
        experiment.refresh_from_db()
        return Response(_body(request, experiment))


class CancelExperiment(Resource):
    """Ends an experiment."""

    @extend_schema(
        operation_id="cancelExperiment", request=None, responses={200: response(schemas.ExperimentBody), **error_responses(403, 404, 409)}
    )
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """End an experiment. The results of trials that are done are kept."""
        return _changed(request, experiment_id, requests.cancel)


class PauseExperiment(Resource):
    """Pauses an experiment."""

    @extend_schema(
        operation_id="pauseExperiment", request=None, responses={200: response(schemas.ExperimentBody), **error_responses(403, 404, 409)}
    )
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """Pause an experiment. Trials that run stop within seconds, and start again from their beginning."""
        return _changed(request, experiment_id, requests.pause)


class ResumeExperiment(Resource):
    """Resumes an experiment."""

    @extend_schema(
        operation_id="resumeExperiment", request=None, responses={200: response(schemas.ExperimentBody), **error_responses(403, 404, 409)}
    )
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """Continue an experiment after a pause. Refused while the quota of bytes is used up, which pauses experiments."""
        return _changed(request, experiment_id, requests.resume)


class TrialSession(Resource):
    """A trial as a session."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    @extend_schema(
        operation_id="openTrial",
        request=None,
        parameters=[IDEMPOTENCY_KEY],
        responses={
            201: response(schemas.SessionBody, "The session was created; a worker runs the trial again."),
            **error_responses(403, 404, 409),
        },
    )
    @idempotent
    def post(self, request: Request, experiment_id: UUID, number: int) -> Response:
        """Create a session with a trial: everything that its scheduler did, at its end."""
        actor = actor_for(request, Verb.CREATE)
        experiment = _find_or_404(request, experiment_id, Verb.CREATE)
        trial = ExperimentTrial.objects.filter(experiment=experiment, number=number).first()
        if trial is None:
            raise not_found("trial")
        with within_quotas():
            session = trial_sessions.open_trial(actor.user_id, experiment, trial)
        body = session_body(request, session)
        return Response(body, status=201, headers={"Location": body.url})


@contextmanager
def _reading_plans() -> Iterator[None]:
    """Wait for the plans of others. Raises `ApiError` 503 if many requests wait."""
    with late_results(), _PLANS.slot():
        yield


def _document(experiment: Experiment, form: str, done: int, *, volatile: bool, series: bool) -> bytes:
    """The results in one of `_FORMATS`."""
    match form:
        case "columns":
            return _columns(experiment.pk, experiment.trials, done)
        case "csv":
            return csv_of(reading.results(experiment, volatile=volatile, means=False, series=False, drawn=False)).encode()
        case "html":
            return html_report(reading.results(experiment, volatile=volatile, series=False)).encode()
    return encode_results(reading.results(experiment, volatile=volatile, series=series))


@lru_cache(maxsize=4)
def _columns(experiment_id: UUID, trials: int, done: int) -> bytes:  # noqa: ARG001 -- a result is stored once: equal numbers, equal results.
    """The results by column. They take a second of 10,000 trials, and are often read again."""
    experiment = Experiment.objects.get(pk=experiment_id)
    return msgspec.json.encode(columnar(reading.results(experiment, means=False, series=False)))


def _own(actor: Actor) -> QuerySet[Experiment]:
    return Experiment.objects.filter(owner_id=actor.user_id)


def _find_or_404(request: Request, experiment_id: UUID, verb: Verb) -> Experiment:
    """The experiment, if it is the client's. Raises `ApiError` 401, 403 or 404."""
    experiment = _own(actor_for(request, verb)).select_related("owner").filter(pk=experiment_id).first()
    if experiment is None:
        raise not_found("experiment")
    return experiment


def _changed(request: Request, experiment_id: UUID, change: Callable[[UUID], None]) -> Response:
    experiment = _find_or_404(request, experiment_id, Verb.CREATE)
    try:
        with within_quotas():
            change(experiment.pk)
    except NotPossible as error:
        raise ApiError(409, error.code, str(error)) from error
    experiment.refresh_from_db()
    return Response(_body(request, experiment))


def _body(request: Request, experiment: Experiment) -> schemas.ExperimentBody:
    return _bodies(request, [experiment])[0]


def _bodies(request: Request, experiments: Collection[Experiment]) -> list[schemas.ExperimentBody]:
    progress = reading.progress_of([experiment.pk for experiment in experiments])
    return [_one_body(request, experiment, progress.get(experiment.pk, Progress())) for experiment in experiments]


def _one_body(request: Request, experiment: Experiment, progress: Progress) -> schemas.ExperimentBody:
    return schemas.ExperimentBody(
        id=str(experiment.pk),
        url=request.build_absolute_uri(reverse("experiment", args=[experiment.pk])),
        page=request.build_absolute_uri(reverse("experiment-page", args=[experiment.pk])),
        name=experiment.name,
        status=cast("schemas.ExperimentStatus", experiment.status),
        adding=bool(experiment.added_plan),
        faults=msgspec.convert(experiment.faults, list[schemas.PlanFault]),
        nodes=experiment.nodes,
        pods=experiment.pods,
        trials=experiment.trials,
        done=progress.done,
        failed=progress.failed,
        running=progress.running,
        seconds_per_trial=progress.trial_seconds(experiment),
        remaining_seconds=progress.remaining_seconds(experiment),
        owner=None if experiment.owner is None else experiment.owner.get_username(),
        created_at=experiment.created_at,
        started_at=experiment.started_at,
        ended_at=experiment.ended_at,
    )


def _refused(error: PlanError) -> ApiError:
    """400 with the first fault in `path`, and all faults in the message."""
    first = error.faults[0]
    return ApiError(400, "invalid", str(error), path=f"$.plan:{first.line} {first.path}".rstrip())


def _download(text: bytes, media_type: str, ending: str) -> HttpResponse:
    download = HttpResponse(text, content_type=f"{media_type}; charset=utf-8")
    download["Content-Disposition"] = f'attachment; filename="experiment.{ending}"'
    return download
