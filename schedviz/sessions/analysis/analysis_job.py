"""Runs analysis requests in an io worker: replays the session to the requested moment and queries that engine."""

from __future__ import annotations

import logging
from typing import Final
from uuid import UUID

import msgspec
from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import UnknownProfileError
from schedviz.engine.reporting.debugger import dump_lines
from schedviz.explain.card.build import card_of_overview, card_of_pod
from schedviz.explain.card.formats import rendered
from schedviz.explain.card.model import Card
from schedviz.explain.changes import smallest_change
from schedviz.explain.describe import NodeUnknownError, describe_node, describe_pod
from schedviz.explain.device_inventory import device_inventory
from schedviz.explain.doctor import Examination
from schedviz.explain.doctor.known_findings import KnownFindings
from schedviz.explain.messages.message import parse_message, with_nodes
from schedviz.explain.messages.parsed_message import Message, NotAMessageError
from schedviz.explain.pending.overview import Unread, overview
from schedviz.explain.what_if import what_if
from schedviz.explain.why import PodUnknownError, why_pending
from schedviz.ingest.report import Report
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.selector_text import parse_selector
from schedviz.lessons import find
from schedviz.lessons.player import play
from schedviz.sessions.analysis.analysis_turns import run_in_turn
from schedviz.sessions.analysis.comparison import compare_sessions
from schedviz.sessions.analysis.engine_cache import ENGINE_CACHE
from schedviz.sessions.analysis.requests import (
    AnalysisRequest,
    AnalysisResult,
    AnyAnalysisRequest,
    CompareRequest,
    DescribeRequest,
    DevicesRequest,
    DumpRequest,
    ExplainMessageRequest,
    LessonDraftRequest,
    LessonPathRequest,
    ObjectRequest,
    OverviewCardRequest,
    OverviewRequest,
    PendingPodsRequest,
    PodCardRequest,
    RecordingRequest,
    SelectorRequest,
    SmallestChangeRequest,
    SubjectNotFound,
    WhatIfRequest,
    WhyRequest,
    store_result,
)
from schedviz.sessions.errors import HistoryUnavailable, NotExportable, ReplayDiverged
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight
from schedviz.sessions.replay import replayer
from schedviz.sessions.senders import name_of
from schedviz.sessions.transfer.lesson_draft import lesson_draft
from schedviz.sessions.transfer.trace_recording import recording
from schedviz.trace.comparing import Comparison

logger = logging.getLogger(__name__)

#: The largest result, in bytes of JSON. The web server, Redis and the client each hold all of it.
MAX_RESULT_BYTES = 64 << 20
_GONE: Final = AnalysisResult(missing="The session was deleted.")


def run(session_id: UUID, request: bytes, result_key: str) -> bool:
    """Compute the result of a request (JSON of `AnyAnalysisRequest`) and store it under `result_key`. False: it is not its user's turn.

    Does nothing if the result is already stored, another worker is computing it, or nobody has asked for it in the last seconds.
    """
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        store_result(result_key, _GONE)
        return True
    asked = msgspec.json.decode(request, type=AnyAnalysisRequest)
    senders = single_flight.senders_of(result_key) or [name_of(session.owner_id)]
    # These run a part of the history again, up to the time limit. Other analyses take seconds.
    long_kind = "history" if isinstance(asked, RecordingRequest | LessonDraftRequest) else ""
    return run_in_turn(senders, result_key, lambda: store_result(result_key, _result_of(session, asked)), long_kind=long_kind)


def _result_of(session: Session, request: AnyAnalysisRequest) -> AnalysisResult:
    """The result, or an error message."""
    result = _computed_result(session, request)
    # Without its rows, an analysis fails in many ways.
    return _GONE if (result.unavailable or result.failed) and Session.is_deleted(session.pk) else result


def _computed_result(session: Session, request: AnyAnalysisRequest) -> AnalysisResult:
    try:
        value = _encoded_result(session, request)
        return AnalysisResult(value=msgspec.Raw(value)) if len(value) <= MAX_RESULT_BYTES else AnalysisResult(too_large=_too_large(value))
    except NotAMessageError as error:
        return AnalysisResult(refused=str(error))
    except (PodUnknownError, NodeUnknownError, UnknownProfileError, SubjectNotFound) as error:
        return AnalysisResult(missing=str(error))
    except (ReplayDiverged, HistoryUnavailable, NotExportable) as error:
        return AnalysisResult(unavailable=str(error))
    except SoftTimeLimitExceeded:
        return AnalysisResult(
            failed="The analysis takes longer than 60 s, which is the limit. "
            "Ask about one pod or about an earlier moment, or run the same command of `schedviz` on a file."
        )
    except MemoryError:
        logger.warning("an analysis request for session %s needed more memory than an io process may use", session.pk)
        return AnalysisResult(
            failed="The analysis needs more memory than an io process may use. "
            "Ask about fewer events, or run the same command of `schedviz` on a file."
        )
    except Exception:
        if not Session.is_deleted(session.pk):
            logger.exception("an analysis request for session %s failed", session.pk)
        return AnalysisResult(failed="The analysis failed, because the engine raised an error. The server's log has the details.")


def _too_large(value: bytes) -> str:
    return (
        f"The result has {len(value):,} bytes; at most {MAX_RESULT_BYTES:,} are returned. "
        "Ask about one pod, one node or fewer events, or run `schedviz explain` on a file."
    )


def _encoded_result(session: Session, request: AnyAnalysisRequest) -> bytes:
    if isinstance(request, LessonPathRequest):
        return msgspec.json.encode(list(play(find(request.lesson))))
    if isinstance(request, LessonDraftRequest):
        return msgspec.json.encode(lesson_draft(session, name=request.name, moments=request.moments))
    if isinstance(request, RecordingRequest):
        return msgspec.json.encode(recording(session, after=request.after, until=request.until, observed=request.observed))
    if isinstance(request, CompareRequest):
        return msgspec.json.encode(_comparison(session, request))
    key = (session.pk, session.event if request.at is None else request.at, session.applied_seq)
    simulation = ENGINE_CACHE.pop(key) or _engine(session, request.at)
    result = _result_of_engine(simulation, request, session)
    if not _modifies_engine(request):
        ENGINE_CACHE.put(key, simulation)
    return result


def _comparison(session: Session, request: CompareRequest) -> Comparison:
    other = Session.objects.filter(pk=request.other).first()
    if other is None:
        raise SubjectNotFound(f"There is no session {request.other}.")
    return compare_sessions((session, session.event if request.at is None else request.at), (other, request.other_at))


def _modifies_engine(request: AnalysisRequest) -> bool:
    """Whether computing its result reorders the lists of the scheduler's cache or adds pods."""
    tries_changes = isinstance(request, SmallestChangeRequest | PodCardRequest | OverviewCardRequest | WhatIfRequest)
    return tries_changes or (isinstance(request, OverviewRequest) and request.changes)


def _result_of_engine(simulation: Simulation, request: AnalysisRequest, session: Session) -> bytes:
    findings = _findings(session)
    match request:
        case WhyRequest():
            return msgspec.json.encode(why_pending(simulation, request.pod, findings))
        case PodCardRequest():
            return _drawn(_pod_card(simulation, request.pod, findings, _origin(session)), request)
        case SmallestChangeRequest():
            return msgspec.json.encode(smallest_change(simulation, request.pod))
        case PendingPodsRequest():
            return msgspec.json.encode(overview(simulation, findings).groups)
        case OverviewRequest():
            return msgspec.json.encode(overview(simulation, findings, with_changes=request.changes, unread=_unread(session)).brief())
        case OverviewCardRequest():
            cluster_overview = overview(simulation, findings, with_changes=True, unread=_unread(session))
            return _drawn(card_of_overview(cluster_overview, origin=_origin(session)), request)
        case WhatIfRequest():
            pod = codec.from_dict(request.pod, strict=True)
            assert isinstance(pod, Pod)
            simulation.running_command = None
            return msgspec.json.encode(what_if(simulation, pod, request.copies))
        case ExplainMessageRequest():
            return msgspec.json.encode(_parsed(simulation, request))
        case DumpRequest():
            lines = dump_lines(simulation, verbosity=request.verbosity)
            return msgspec.json.encode("".join(line.write("json" if request.json else "text") for line in lines))
        case DescribeRequest():
            describe = describe_pod if request.kind == "Pod" else describe_node
            return msgspec.json.encode(describe(simulation, request.key))
        case DevicesRequest():
            return msgspec.json.encode(device_inventory(simulation, node=request.node, pod=request.pod))
        case ObjectRequest():
            obj = simulation.cluster.find(request.kind, request.key)
            if obj is None:
                raise SubjectNotFound(f"There is no {request.kind} {request.key} at this moment.")
            return codec.encode(obj)
        case SelectorRequest():
            selects = parse_selector(request.selector).matches
            stored = simulation.cluster.store.of_kind(request.kind)
            return msgspec.json.encode({"names": [key for key, obj in stored.items() if selects(obj.metadata.labels)]})
    raise AssertionError(request)


def _findings(session: Session) -> KnownFindings:
    """What the doctor found in the session's files when they were imported."""
    report = session.report or {}
    return KnownFindings(msgspec.convert(report.get("doctor", []), list[Examination]))


def _unread(session: Session) -> Unread | None:
    """The first part of the session's files that could not be read."""
    report = msgspec.convert(session.report or {}, Report)
    missing = (*report.refused, *report.skipped)
    return Unread(missing[0].message, sum(report.kinds.values())) if missing else None


def _origin(session: Session) -> str:
    """The name of the session, and now, for a card."""
    return f"{session.name or session.pk}, {timezone.now():%Y-%m-%d %H:%M} UTC"


def _pod_card(simulation: Simulation, pod: str, findings: KnownFindings, origin: str) -> Card:
    explanation = why_pending(simulation, pod, findings)
    return card_of_pod(explanation, smallest_change(simulation, pod, explanation) if explanation.lacks_change else None, origin=origin)


def _drawn(card: Card, request: PodCardRequest | OverviewCardRequest) -> bytes:
    return msgspec.json.encode(rendered(card, request.form, request.theme))


def _parsed(simulation: Simulation, request: ExplainMessageRequest) -> Message:
    """Parse a message into its clauses. Raises `NotAMessageError` or `PodUnknownError`."""
    message = parse_message(request.text)
    if not request.pod:
        return message
    matrix = why_pending(simulation, request.pod).matrix
    return msgspec.structs.replace(message, clauses=with_nodes(message.clauses, matrix))


def _engine(session: Session, event: int | None) -> Simulation:
    """The engine after an event, or at the end of the stage that the event belongs to; the newest engine if the event is in the future."""
    if event is None or event >= session.event:
        return replayer.load(session.pk, to_seq=session.applied_seq, to_event=session.event, alive=lambda: None)[0]
    return replayer.engine_at(session.pk, event, between_units=lambda _: None)
