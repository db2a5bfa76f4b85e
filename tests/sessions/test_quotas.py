"""What users, and all of them together, may have: each limit is named where it is hit, and nothing that is there is taken away."""

from __future__ import annotations

import itertools
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from schedviz.sessions import quotas
from schedviz.sessions.commands import inbox
from schedviz.sessions.forks import requests
from schedviz.sessions.models import Session
from schedviz.sessions.quotas import KINDS, QuotaReached
from schedviz.sessions.transfer import create, importing, session_file_export
from tests.sessions.conftest import MakeSession, command, node, pod, send, work_off
from tests.sessions.test_session_file import imported, packed

_keys = itertools.count(1)


@pytest.fixture
def owned(make_session: MakeSession) -> UUID:
    """A session of somebody: 3 nodes, 12 pods, 4 cycles."""
    session_id = make_session(nodes=3, pods=12)
    owner = User.objects.create_user("owner")
    Session.objects.filter(pk=session_id).update(owner=owner)
    send(session_id, "run", max=4)
    work_off(session_id)
    quotas.forget()
    return session_id


def used(session_id: UUID) -> dict[str, int]:
    quotas.forget()
    owner = Session.objects.get(pk=session_id).owner_id
    return {one.kind: one.used for one in quotas.quotas_of(owner) if one.is_own}


def accept(session_id: UUID, op: str, **members: Any) -> None:
    quotas.forget()
    inbox.accept(session_id, command(op, **members), f"asked-{next(_keys)}")


def test_what_is_there_is_counted(owned: UUID) -> None:
    found = used(owned)

    assert {kind: found[kind] for kind in KINDS[:4]} == {"sessions": 1, "nodes": 3, "pods": 12, "cycles": 4}
    assert found["bytes"] > 1000
    send(owned, "create", object=node("more"))
    send(owned, "delete", kind="Pod", name="pod-12")
    work_off(owned)
    assert (used(owned)["nodes"], used(owned)["pods"]) == (4, 11)


def test_a_fork_counts_its_own_cycles_alone(owned: UUID) -> None:
    session = Session.objects.get(pk=owned)
    assert session.owner is not None
    made = requests.fork(session, session.owner).session
    importing.import_uploads(made.pk)
    send(made.pk, "run", max=2)
    work_off(made.pk)

    found = used(owned)

    assert {kind: found[kind] for kind in KINDS[:4]} == {"sessions": 2, "nodes": 6, "pods": 24, "cycles": 6}


@pytest.mark.parametrize("ending", ["PER_USER", "IN_ALL"])
@pytest.mark.parametrize(
    ("kind", "limit", "op", "members"),
    [
        ("NODES", 3, "create", {"object": node("more")}),
        ("PODS", 12, "create", {"object": pod("more")}),
        ("CYCLES", 4, "run", {}),
        ("CYCLES", 4, "step", {"unit": "cycle"}),
        ("BYTES", 100, "run", {}),
        ("BYTES", 100, "create", {"object": pod("more")}),
    ],
)
def test_a_command_that_makes_more_is_refused(
    owned: UUID, settings: Any, ending: str, kind: str, limit: int, op: str, members: dict[str, Any]
) -> None:
    setattr(settings, f"{kind}_{ending}", limit)

    with pytest.raises(QuotaReached, match=rf"SCHEDVIZ_{kind}_{ending} allows {limit}"):
        accept(owned, op, **members)

    setattr(settings, f"{kind}_{ending}", 0)
    accept(owned, op, **members)


def test_what_takes_away_or_was_accepted_before_is_done_all_the_same(owned: UUID, settings: Any) -> None:
    seq = inbox.accept(owned, command("run", max=1), "again").seq
    work_off(owned)
    settings.CYCLES_PER_USER = settings.BYTES_PER_USER = settings.PODS_PER_USER = 1

    quotas.forget()
    assert inbox.accept(owned, command("run", max=1), "again").seq == seq
    accept(owned, "delete", kind="Pod", name="pod-2")
    accept(owned, "pause")

    assert Session.objects.get(pk=owned).last_seq == 4


def test_a_run_that_uses_a_quota_up_stops_and_says_so(owned: UUID, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr("schedviz.sessions.hosting.engine_host.SLICE_CYCLES", 1)
    settings.CYCLES_PER_USER = 7

    seq = send(owned, "run")
    session = work_off(owned)

    outcome = session.commands.get(seq=seq).outcome
    assert outcome["stopped"] == "quota"
    assert outcome["result"].startswith("Your sessions have 7 cycles; SCHEDVIZ_CYCLES_PER_USER allows 7.")
    assert (session.status, session.applied_seq) == (Session.Status.PAUSED, seq)
    assert 7 <= session.cycle < 12
    settings.CYCLES_PER_USER = 0
    send(owned, "run")
    assert work_off(owned).cycle == 12
    again = imported(packed(owned))
    assert (again.status, again.commands.get(seq=seq).outcome["stopped"]) == (Session.Status.READY, "quota"), again.message


def test_an_import_that_there_is_no_room_for_fails_with_the_limit(owned: UUID, settings: Any) -> None:
    file = b"".join(session_file_export.export(Session.objects.get(pk=owned)))
    settings.PODS_IN_ALL = 20

    session = imported(file)
    assert session.status == Session.Status.FAILED
    assert "The sessions of this server have 12 pods; SCHEDVIZ_PODS_IN_ALL allows 20. 12 more are too many." in session.message

    made = create.create_session(None, "made up", create.Generate({"nodes": 2, "pods": 9}))
    importing.import_uploads(made.pk)
    made.refresh_from_db()
    assert "9 more are too many" in made.message


@pytest.mark.parametrize(("kind", "limit"), [("SESSIONS", 1), ("NODES", 5), ("PODS", 20), ("CYCLES", 3), ("BYTES", 50)])
def test_a_new_session_needs_room(owned: UUID, settings: Any, kind: str, limit: int) -> None:
    owner = Session.objects.get(pk=owned).owner_id
    quotas.expect_room_for_session(owner, nodes=3, pods=12)

    setattr(settings, f"{kind}_PER_USER", limit)
    with pytest.raises(QuotaReached, match=f"SCHEDVIZ_{kind}_PER_USER allows {limit}"):
        quotas.expect_room_for_session(owner, nodes=3, pods=12)
