"""The newest bindings over time, by profile, plugin and cause, and the queue that the pods of a followed cluster imply."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schedviz.explain.shadowing.judgement import Choice, Judgement, Share
from schedviz.sessions.models import ShadowedPod
from schedviz.sessions.observing import agreement
from schedviz.sessions.observing.agreement import BindingSeen, JudgedBinding, PodArrival, PodPlaced, VerdictCounts
from schedviz.sessions.observing.breakdown import QueuePlace, breakdown_of, inferred_queue
from tests.sessions.conftest import MakeSession

CHOICE = Choice(nodes=2, feasible=2, best=("n1",), tied=1, total=200)
NOT_BEST = Judgement("notBest", CHOICE, 150, shares=(Share("NodeResourcesFit", 100, 50),), cause="unexplained")
UNDECIDED = Judgement("undecided", CHOICE, plugin="TaintToleration", cause="order")


@pytest.fixture
def session(make_session: MakeSession) -> UUID:
    return make_session()


def binding(number: int, judgement: Judgement, profile: str = "default-scheduler") -> JudgedBinding:
    return JudgedBinding(f"default/p{number}", f"u{number}", number, "n2", judgement, profile=profile)


def test_bindings_are_counted_by_interval_profile_plugin_and_cause(session: UUID) -> None:
    agrees = Judgement("agrees", CHOICE, 200)
    agreement.store(session, [binding(1, agrees), binding(2, NOT_BEST), binding(3, UNDECIDED), binding(4, agrees, "batch")])
    began = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(1, 5):
        ShadowedPod.objects.filter(session_id=session, bound_event=number).update(judged_at=began + timedelta(minutes=20 * number))

    result = breakdown_of(session)

    assert (result.bindings, result.seconds) == (4, 300)
    assert [one.begins for one in result.over_time] == [began + timedelta(minutes=20 * number) for number in range(1, 5)]
    assert result.over_time[1].counts == VerdictCounts(not_best=1)
    assert result.profiles == {"batch": VerdictCounts(agrees=1), "default-scheduler": VerdictCounts(agrees=1, not_best=1, undecided=1)}
    assert result.plugins == {"NodeResourcesFit": 1, "TaintToleration": 1}
    assert result.causes == {"unexplained": 1, "order": 1}
    assert agreement.counts(session).rate == 2 / 3


def test_a_binding_in_flight_is_neither_listed_nor_waiting(session: UUID) -> None:
    agreement.store(session, [BindingSeen("default/p", "u", 7, "n1")])
    assert (agreement.waiting(session), breakdown_of(session).bindings) == (0, 0)
    agreement.store(session, [JudgedBinding("default/p", "u", 7, "n1", Judgement("agrees", CHOICE, 200))])
    assert [row.node for row in agreement.bindings(session, [], before=None, limit=5)] == ["n1"]


def test_the_inferred_queue_follows_the_conditions_of_the_pods(session: UUID) -> None:
    arrivals = [PodArrival(f"default/p{number}", f"u{number}", number, CHOICE) for number in range(3)]
    agreement.store(session, [*arrivals, PodPlaced("default/p1", "u1", "unschedulable")])
    assert inferred_queue(session) == {
        "active": QueuePlace(2, ["default/p0", "default/p2"]),
        "unschedulable": QueuePlace(1, ["default/p1"]),
    }
