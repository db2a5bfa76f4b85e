"""Answering questions, in an io worker: the engine of the newest state is made again by replay, and asked."""

from __future__ import annotations

import logging
from uuid import UUID

import msgspec

from schedviz.engine.dry_run import UnknownProfileError
from schedviz.explain import PodUnknownError, what_if, why_pending
from schedviz.explain.changes import smallest_change
from schedviz.explain.pending import pending_groups
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.sessions import replaying
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.models import Session
from schedviz.sessions.questions import Answer, Change, Kept, Pending, Question, Unanswerable, WhatIf, Why, keep

logger = logging.getLogger(__name__)


def answer(session_id: UUID, question: bytes, place: str) -> None:
    """In an io worker: make the engine of the newest state, ask it, and keep what it says at `place`."""
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return
    try:
        made = Answer(value=msgspec.Raw(_ask_engine(session, msgspec.json.decode(question, type=Question))))
    except (PodUnknownError, UnknownProfileError, Unanswerable) as error:
        made = Answer(missing=str(error))
    except (ReplayDiverged, HistoryUnavailable) as error:
        made = Answer(failed=str(error))
    except Exception:
        logger.exception("a question about session %s cannot be answered", session_id)
        made = Answer(failed="The question could not be answered: the engine failed. The server's log says more.")
    keep(place, made)


def _ask_engine(session: Session, question: Question) -> bytes:
    simulation, _, _ = replaying.load(session.pk, to_seq=session.applied_seq, to_event=session.event, alive=lambda: None)
    match question:
        case Why():
            return msgspec.json.encode(why_pending(simulation, question.pod))
        case Change():
            return msgspec.json.encode(smallest_change(simulation, question.pod))
        case Pending():
            return msgspec.json.encode(pending_groups(simulation))
        case WhatIf():
            pod = codec.from_dict(question.pod, strict=True)
            assert isinstance(pod, Pod)
            simulation.task = None
            return msgspec.json.encode(what_if(simulation, pod, question.copies))
        case Kept():
            kept = simulation.cluster.find(question.kind, question.key)
            if kept is None:
                raise Unanswerable(f"There is no {question.kind} {question.key} at this moment.")
            return codec.encode(kept)
