"""Comparison of stored sessions: a fork and its parent, two unrelated sessions, two positions of one."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from schedviz.sessions.analysis import comparison
from schedviz.sessions.analysis.comparison import compare_sessions
from schedviz.sessions.forks.requests import OtherRelease, fork
from schedviz.sessions.history import lineage, reading
from schedviz.sessions.models import Session
from schedviz.sessions.replay import cycle_detail_job
from schedviz.sessions.transfer import import_job
from tests.sessions.conftest import MakeSession, node, send, work_off


@pytest.fixture
def pair(make_session: MakeSession) -> tuple[Session, Session]:
    """A session, and its fork in which a node was added before the rest was scheduled."""
    session_id = make_session(nodes=3, pods=30)
    send(session_id, "run", max=10)
    parent = work_off(session_id)
    forked = fork(parent, User.objects.create_user("somebody")).session
    import_job.run_import(forked.pk)
    send(forked.pk, "create", object=node("new", cpu="64"))
    for one in (parent, forked):
        send(one.pk, "run")
        work_off(one.pk)
        one.refresh_from_db()
    return parent, forked


def heads(*sessions: Session) -> list[tuple[Session, int]]:
    return [(session, session.event) for session in sessions]


def test_the_comparison_of_a_fork_starts_at_the_fork(pair: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch) -> None:
    parent, forked = pair
    looked_at: list[int] = []
    each_event = reading.each_event

    def spy(session_id: object, *, after: int, until: int) -> object:
        looked_at.append(after)
        return each_event(session_id, after=after, until=until)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "each_event", spy)
    result = compare_sessions(*heads(parent, forked))

    assert looked_at == [forked.fork_event] * 2
    assert result.shared_event == forked.fork_event
    assert result.shared_origin
    assert result.divergence is not None
    assert result.divergence.event is not None
    assert result.divergence.event.b is not None
    assert result.divergence.event.b.body["key"] == "new"
    assert result.divergence.cycle is not None
    assert result.divergence.cycle.a is not None
    assert result.divergence.cycle.a.cycle == 11
    assert result.placements.moved > 0
    assert (result.a.session, result.b.session) == (str(parent.pk), str(forked.pk))


def test_scores_cover_all_nodes_if_the_cycle_details_are_stored(pair: tuple[Session, Session]) -> None:
    for one in pair:
        cycle_detail_job.make_cycle_detail(one.pk, 11)

    result = compare_sessions(*heads(*pair))

    assert result.scores is not None
    assert result.scores.complete
    assert result.divergence is not None
    assert result.divergence.cycle is not None
    assert {plugin.node for plugin in result.scores.plugins} >= {"new"}
    # The details of a node equal the summary of the winner.
    winner = reading.cycles(pair[1].pk, after=10, limit=1)[0].cycle.winner
    assert winner is not None
    assert next(total.b for total in result.scores.totals if total.node == winner.node) == winner.total


def test_scores_are_incomplete_if_replay_takes_too_long(pair: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "DETAIL_SECONDS", -1.0)

    late = compare_sessions(*heads(*pair))

    assert late.scores is not None
    assert not late.scores.complete
    monkeypatch.undo()
    in_time = compare_sessions(*heads(*pair))
    assert in_time.scores is not None
    assert in_time.scores.complete


def test_an_unchanged_fork_equals_its_parent_at_the_fork(pair: tuple[Session, Session]) -> None:
    parent, forked = pair

    assert compare_sessions((parent, forked.fork_event), (forked, forked.fork_event)).same


def test_two_moments_of_one_session_are_compared(pair: tuple[Session, Session]) -> None:
    parent, _ = pair
    earlier = reading.cycles(parent.pk, after=4, limit=1)[0].last_event + 1

    result = compare_sessions((parent, earlier), (parent, parent.event))

    assert result.shared_event == earlier
    assert result.divergence is not None
    assert result.divergence.cycle is not None
    assert result.divergence.cycle.a is None
    assert result.placements.placed_only_in_b == 25


def test_sessions_without_a_shared_origin_are_compared_by_name(make_session: MakeSession) -> None:
    sessions = []
    for nodes in (3, 3, 2):
        session_id = make_session(nodes=nodes, pods=12)
        send(session_id, "run")
        sessions.append(work_off(session_id))

    assert compare_sessions(*heads(sessions[0], sessions[1])).same
    result = compare_sessions(*heads(sessions[0], sessions[2]))
    assert result.shared_event == 0
    assert not result.shared_origin
    assert not result.same
    assert any(node.node == "node-3" and node.b is None for node in result.utilisation.nodes)


def test_the_reasons_of_pending_pods_come_from_their_newest_cycles(make_session: MakeSession) -> None:
    full, roomy = make_session(nodes=1, pods=120), make_session(nodes=2, pods=120)
    for session_id in (full, roomy):
        send(session_id, "run")
        work_off(session_id)

    result = compare_sessions(*heads(Session.objects.get(pk=full), Session.objects.get(pk=roomy)))

    (reason,) = result.pending
    assert (reason.count_a, reason.count_b) == (10, 0)
    assert reason.reason.startswith("0/1 nodes are available: 1 Too many pods")


def test_settings_from_imported_files_are_compared(pair: tuple[Session, Session]) -> None:
    parent, forked = pair
    Session.objects.filter(pk=forked.pk).update(settings={**forked.settings, "seed": 4})
    forked.refresh_from_db()

    result = compare_sessions(*heads(parent, forked))

    assert [(setting.path, setting.b) for setting in result.settings] == [("seed", 4)]


def test_sessions_share_the_history_of_their_nearest_common_ancestor(pair: tuple[Session, Session]) -> None:
    parent, forked = pair
    other = fork(parent, User.objects.get(), at=forked.fork_event - 30).session
    import_job.run_import(other.pk)
    other.refresh_from_db()

    assert lineage.shared(forked.pk, other.pk, until_a=forked.event, until_b=other.event) == (parent.pk, other.fork_event)
    assert lineage.shared(forked.pk, parent.pk, until_a=forked.event, until_b=7) == (parent.pk, 7)
    assert comparison.compare_sessions(*heads(forked, other)).shared_event == other.fork_event


def test_forks_to_two_releases_share_their_origin_and_no_event(pair: tuple[Session, Session]) -> None:
    parent, _ = pair
    same, other = (fork(parent, User.objects.get(), other=OtherRelease(release)).session for release in ("v1.27.1", "v1.36"))
    for made in (same, other):
        import_job.run_import(made.pk)
        made.refresh_from_db()

    result = compare_sessions(*heads(same, other))

    assert (result.shared_event, result.shared_origin) == (0, True)


@pytest.mark.parametrize("is_parent", [True, False])
def test_a_fork_to_another_release_is_compared_with_the_other_side_since_the_fork(make_session: MakeSession, *, is_parent: bool) -> None:
    session_id = make_session(nodes=3, pods=12)
    send(session_id, "run", max=10)
    parent = work_off(session_id)
    user = User.objects.create_user("somebody")
    forks = [fork(parent, user, other=other).session for other in (None, OtherRelease("v1.36"))]
    for made in forks:
        import_job.run_import(made.pk)
    a, b = parent if is_parent else forks[0], forks[1]
    for one in (a, b):
        send(one.pk, "run")
        work_off(one.pk)
        one.refresh_from_db()

    result = compare_sessions(*heads(a, b))

    assert result.divergence is not None
    assert result.divergence.cycle is None or result.divergence.cycle.a is None or result.divergence.cycle.a.cycle > 10
    swapped = compare_sessions(*heads(b, a))
    assert swapped.divergence is not None
    assert swapped.divergence.cycle is None or swapped.divergence.cycle.b is None or swapped.divergence.cycle.b.cycle > 10
