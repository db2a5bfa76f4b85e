"""The watches of a real control plane of v1.36, recorded while pods were created and deleted: its scheduler and this one decide the same."""

from __future__ import annotations

import hashlib
from pathlib import Path
from uuid import UUID

import msgspec

from schedviz.cli.follow.redaction import Redaction
from schedviz.kube.kinds import WATCHED_KINDS_V1_36
from schedviz.sessions.hosting import lease, worker_loop
from schedviz.sessions.observing import agreement, observations
from schedviz.sessions.observing.observations import Seen
from schedviz.sessions.transfer import create, import_job
from tests.conftest import RedisServer
from tests.live import recorder
from tests.sessions.conftest import work_off

RECORDING = Path(__file__).parents[2] / "bench" / "recorded.jsonl.zst"
#: Of 3,744.
EVENTS = 500
BATCH = 250


def seen(redaction: Redaction, entry: recorder.Entry) -> Seen:
    """An entry as `schedviz follow` pushes it."""
    kind = next(kind for kind in WATCHED_KINDS_V1_36 if kind.resource == entry.resource)
    kept = redaction.redact(msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.name, **entry.object}), kind)
    return Seen(type=entry.type, object=kept.object, version=kept.version)  # type: ignore[arg-type]


def settle(session_id: UUID) -> None:
    """Judge all bindings that wait for others, as a worker does when it leaves a session."""
    taken, engine = lease.acquire(session_id), worker_loop.WARM.pop(session_id)
    assert taken is not None
    assert engine is not None
    assert engine.take_over(*taken)
    engine.judge_due_bindings(now=True)
    assert lease.release_idle(engine.lease)
    worker_loop.WARM.put(engine)


def test_both_schedulers_make_the_same_decisions(transactional_db: None, redis: RedisServer) -> None:
    session = create.create_session(
        None, "follows", create.Trace({"format": "schedviz-trace/1", "steps": []}), simulation={"release": "v1.36"}
    )
    import_job.run_import(session.pk)
    worker_loop.WARM.clear()
    redaction, entries = Redaction(), list(recorder.read(RECORDING))
    listed = sum(not entry.seconds for entry in entries)
    changes = [seen(redaction, entry) for entry in entries[: listed + EVENTS]]
    for n, start in enumerate(range(0, len(changes), BATCH), 1):
        some = changes[start : start + BATCH]
        observations.accept_batch(session.pk, "live", n, some, digest=hashlib.sha256(repr(n).encode()).hexdigest(), version="v1.36.0")
        work_off(session.pk)
        if start < listed + BATCH:
            # Pods that were pending when the recording started are never bound.
            settle(session.pk)
    settle(session.pk)

    found = agreement.counts(session.pk)
    assert (found.not_best, found.infeasible, found.unjudged) == (0, 0, 0)
    assert found.agrees > 0.8 * (found.agrees + found.undecided) > 50
