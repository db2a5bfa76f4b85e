"""Answers analysis requests in an io worker: replays the session to the requested moment and queries that engine."""

from __future__ import annotations

import logging
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
from schedviz.explain.message import Message, NotAMessageError, parse_message, with_nodes
from schedviz.explain.overview import Unread, overview
from schedviz.explain.what_if import what_if
from schedviz.explain.why import PodUnknownError, why_pending
from schedviz.ingest.report import Report
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.selector_text import parse_selector
from schedviz.lessons import find
from schedviz.lessons.player import play
from schedviz.sessions.analysis.engine_cache import ENGINE_CACHE
from schedviz.sessions.analysis.requests import (
    AnalysisRequest,
    Answer,
    Change,
    Describe,
    Devices,
    Dumped,
    ExplainMessage,
    LessonDraft,
    Overview,
    OverviewCard,
    Path,
    Pending,
    PodCard,
    Question,
    Recorded,
    Selected,
    StoredObject,
    SubjectNotFound,
    WhatIf,
    Why,
    store_answer,
)
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight
from schedviz.sessions.replay import replayer
from schedviz.sessions.transfer.lesson_draft import lesson_draft
from schedviz.sessions.transfer.session_file_export import NotExportable
from schedviz.sessions.transfer.trace_recording import recording

logger = logging.getLogger(__name__)

#: The largest answer, in bytes of JSON. The web server, Redis and the client each hold all of it.
ANSWER_BYTES = 64 << 20


def answer(session_id: UUID, question: bytes, reply_key: str) -> None:
    """Compute the answer in an io worker and store it under `reply_key`.

    Does nothing if the answer is already stored or another worker is computing it.
    """
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return
    with single_flight.making(reply_key) as is_first:
        if is_first:
            store_answer(reply_key, _answer(session, question))


def _answer(session: Session, question: bytes) -> Answer:
    """The answer, or an error message."""
    try:
        value = _ask_engine(session, msgspec.json.decode(question, type=Question))
        return Answer(value=msgspec.Raw(value)) if len(value) <= ANSWER_BYTES else Answer(too_large=_too_large(value))
    except NotAMessageError as error:
        return Answer(refused=str(error))
    except (PodUnknownError, NodeUnknownError, UnknownProfileError, SubjectNotFound) as error:
        return Answer(missing=str(error))
    except (ReplayDiverged, HistoryUnavailable, NotExportable) as error:
        return Answer(failed=str(error))
    except SoftTimeLimitExceeded:
        return Answer(
            failed="The answer takes longer than 60 s to compute, which is the limit. "
            "Ask about one pod, or run `schedviz explain` on a file of the cluster."
        )
    except Exception:
        logger.exception("an analysis request for session %s failed", session.pk)
        return Answer(failed="The question could not be answered, because the engine failed. The server's log has the details.")


def _too_large(value: bytes) -> str:
    return (
        f"The answer has {len(value):,} bytes; at most {ANSWER_BYTES:,} are returned. "
        "Ask about one pod, one node or fewer events, or run `schedviz explain` on a file."
    )


def _ask_engine(session: Session, question: Question) -> bytes:
    if isinstance(question, Path):
        return msgspec.json.encode(list(play(find(question.lesson))))
    if isinstance(question, LessonDraft):
        return msgspec.json.encode(lesson_draft(session, name=question.name, moments=question.moments))
    if isinstance(question, Recorded):
        return msgspec.json.encode(recording(session, after=question.after, until=question.until, observed=question.observed))
    moment = (session.pk, session.event if question.at is None else question.at, session.applied_seq)
    simulation = ENGINE_CACHE.pop(moment) or _engine(session, question.at)
    answered = _answered(simulation, question, session)
    if not (isinstance(question, Change | PodCard | OverviewCard | WhatIf) or (isinstance(question, Overview) and question.changes)):
        # These modify the engine: they reorder the cache's lists or add pods.
        ENGINE_CACHE.put(moment, simulation)
    return answered


def _answered(simulation: Simulation, question: AnalysisRequest, session: Session) -> bytes:
    findings = _findings(session)
    match question:
        case Why():
            return msgspec.json.encode(why_pending(simulation, question.pod, findings))
        case PodCard():
            return _drawn(_pod_card(simulation, question.pod, findings, _origin(session)), question)
        case Change():
            return msgspec.json.encode(smallest_change(simulation, question.pod))
        case Pending():
            return msgspec.json.encode(overview(simulation, findings).groups)
        case Overview():
            return msgspec.json.encode(overview(simulation, findings, with_changes=question.changes, unread=_unread(session)).brief())
        case OverviewCard():
            found = overview(simulation, findings, with_changes=True, unread=_unread(session))
            return _drawn(card_of_overview(found, origin=_origin(session)), question)
        case WhatIf():
            pod = codec.from_dict(question.pod, strict=True)
            assert isinstance(pod, Pod)
            simulation.task = None
            return msgspec.json.encode(what_if(simulation, pod, question.copies))
        case ExplainMessage():
            return msgspec.json.encode(_read(simulation, question))
        case Dumped():
            lines = dump_lines(simulation, verbosity=question.verbosity)
            return msgspec.json.encode("".join(line.write("json" if question.json else "text") for line in lines))
        case Describe():
            describe = describe_pod if question.kind == "Pod" else describe_node
            return msgspec.json.encode(describe(simulation, question.key))
        case Devices():
            return msgspec.json.encode(device_inventory(simulation, node=question.node, pod=question.pod))
        case StoredObject():
            obj = simulation.cluster.find(question.kind, question.key)
            if obj is None:
                raise SubjectNotFound(f"There is no {question.kind} {question.key} at this moment.")
            return codec.encode(obj)
        case Selected():
            selects = parse_selector(question.selector).matches
            stored = simulation.cluster.store.of_kind(question.kind)
            return msgspec.json.encode({"names": [key for key, obj in stored.items() if selects(obj.metadata.labels)]})
    raise AssertionError(question)


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


def _drawn(card: Card, question: PodCard | OverviewCard) -> bytes:
    return msgspec.json.encode(rendered(card, question.form, question.theme))


def _read(simulation: Simulation, question: ExplainMessage) -> Message:
    """Parse a message into its clauses. Raises `NotAMessageError` or `PodUnknownError`."""
    message = parse_message(question.text)
    if not question.pod:
        return message
    matrix = why_pending(simulation, question.pod).matrix
    return msgspec.structs.replace(message, clauses=with_nodes(message.clauses, matrix))


def _engine(session: Session, event: int | None) -> Simulation:
    """The engine after an event, or at the end of the stage that the event belongs to; the newest engine if the event is in the future."""
    if event is None or event >= session.event:
        return replayer.load(session.pk, to_seq=session.applied_seq, to_event=session.event, alive=lambda: None)[0]
    return replayer.engine_at(session.pk, event, between_units=lambda _: None)
