"""The agreement between a followed cluster's scheduler and this one, over REST."""

from __future__ import annotations

import msgspec
import pytest
from rest_framework.test import APIClient

from schedviz.explain.shadowing.judgement import Choice, Judgement, Share
from schedviz.sessions.models import Session
from schedviz.sessions.observing import agreement
from schedviz.sessions.observing.agreement import JudgedBinding, PodArrival
from tests.web.conftest import People

pytestmark = pytest.mark.usefixtures("redis")

CHOICE = Choice(nodes=2, feasible=2, best=("n1",), tied=1, total=200)


@pytest.fixture
def url(people: People) -> str:
    return f"/api/v1/sessions/{people.session.pk}/agreement/"


def followed(people: People) -> None:
    """Three pods were bound, and one waits."""
    not_best = Judgement("notBest", CHOICE, 150, shares=(Share("NodeResourcesFit", 100, 50),))
    infeasible = Judgement("infeasible", CHOICE, plugin="TaintToleration", reasons=("node(s) had untolerated taint {a: b}",))
    agreement.store(
        people.session.pk,
        [
            PodArrival("default/a", "u-a", 10, CHOICE),
            JudgedBinding("default/a", "u-a", 11, "n1", Judgement("agrees", CHOICE, 200), "default-scheduler"),
            JudgedBinding("default/b", "u-b", 12, "n2", not_best, "default-scheduler"),
            JudgedBinding("default/c", "u-c", 13, "n3", infeasible, "default-scheduler"),
            PodArrival("default/d", "u-d", 14, CHOICE),
        ],
    )


def test_a_session_that_follows_no_cluster_has_no_rate(owner_client: APIClient, url: str) -> None:
    body = owner_client.get(url).json()
    assert (body["source"], body["detached"], body["all"]["rate"], body["waiting"], body["bindings"]) == (None, False, None, 0, [])


def test_rate_counts_and_bindings_are_listed_newest_first(owner_client: APIClient, people: People, url: str) -> None:
    followed(people)
    body = owner_client.get(url).json()

    assert body["all"] == {"agrees": 1, "notBest": 1, "infeasible": 1, "undecided": 0, "unjudged": 0, "rate": pytest.approx(1 / 3)}
    assert (body["recent"], body["of"], body["waiting"]) == (body["all"], 100, 1)
    assert body["queue"] == {"active": {"count": 1, "pods": ["default/d"]}}
    assert body["breakdown"]["plugins"] == {"TaintToleration": 1, "NodeResourcesFit": 1}
    assert body["breakdown"]["profiles"] == {"default-scheduler": body["all"]}
    assert [(one["pod"], one["verdict"], one["node"], one["event"]) for one in body["bindings"]] == [
        ("default/c", "infeasible", "n3", 13),
        ("default/b", "notBest", "n2", 12),
        ("default/a", "agrees", "n1", 11),
    ]
    assert body["bindings"][0]["judgement"]["reasons"] == ["node(s) had untolerated taint {a: b}"]
    assert body["bindings"][1]["judgement"]["shares"] == [{"plugin": "NodeResourcesFit", "best": 100, "taken": 50}]
    assert body["bindings"][2]["arrival"] == {**msgspec.to_builtins(CHOICE), "best": ["n1"]}
    assert (body["bindings"][2]["arrivedEvent"], body["bindings"][1]["arrivedEvent"]) == (10, None)


def test_bindings_can_be_filtered_and_are_paginated(owner_client: APIClient, people: People, url: str) -> None:
    followed(people)
    page = owner_client.get(url, {"verdict": "notBest,infeasible", "limit": 1}).json()
    rest = owner_client.get(url, {"verdict": "notBest,infeasible", "limit": 2, "before": page["next"]}).json()

    assert ([one["pod"] for one in page["bindings"]], page["next"]) == (["default/c"], 13)
    assert ([one["pod"] for one in rest["bindings"]], rest["next"]) == (["default/b"], None)
    empty = owner_client.get(url, {"limit": 0}).json()
    assert (empty["bindings"], empty["breakdown"]) == ([], None)
    assert owner_client.get(url, {"verdict": "best"}).status_code == 400


def test_a_session_names_the_cluster_that_it_follows_and_a_fork_is_detached(owner_client: APIClient, people: People) -> None:
    address = f"/api/v1/sessions/{people.session.pk}/"
    assert owner_client.get(address).json()["follows"] is None

    owner_client.post(f"{address}observations/", {"source": "kind", "n": 1, "events": []}, format="json")
    assert owner_client.get(address).json()["follows"] == {"source": "kind", "detached": False}

    forked = {"fork": {"session": "another", "name": "another", "at": None, "event": 0, "follows": "kind"}}
    Session.objects.filter(pk=people.session.pk).update(source=forked)
    assert owner_client.get(address).json()["follows"] == {"source": "kind", "detached": True}
    body = owner_client.get(f"{address}agreement/").json()
    assert (body["source"], body["detached"]) == ("kind", True)
