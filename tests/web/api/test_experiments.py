"""Experiments over REST."""

from __future__ import annotations

import json
from collections.abc import Hashable
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from schedviz.experiments.results.columnar import ColumnarResults, ColumnarTrials
from schedviz.sessions import quotas
from schedviz.sessions.experiments import checking, trial_job, trial_lease
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.web.api.endpoints import experiments
from schedviz.web.api.endpoints.experiments import _PLANS
from schedviz.web.api.shared_computations import MAX_RESULTS, MAX_STATES, RESULTS, STATES
from schedviz.web.server.waiting_requests import MAX_WAITING, requester, worker_waits
from tests.web.conftest import People

PLAN = """\
experiment: 1
name: sampling
base: {generate: {shape: basic, nodes: 4, pods: 12}}
variants: [{name: all}, {name: half, percentageOfNodesToScore: 50}]
"""

pytestmark = pytest.mark.usefixtures("redis")


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner-token")


def create(client: APIClient, plan: str = PLAN) -> dict:
    response = client.post("/api/v1/experiments/", {"plan": plan}, format="json")
    assert response.status_code == 201, response.json()
    return response.json()


def finished(client: APIClient, plan: str = PLAN) -> dict:
    body = create(client, plan)
    experiment = Experiment.objects.get(pk=body["id"])
    checking.check(experiment.pk)
    for number in range(experiment.trials):
        trial_job.run(experiment.pk, number)
    trial_job._runners.clear()
    return client.get(body["url"]).json()


def test_an_experiment_is_created_and_read(owner: APIClient) -> None:
    body = create(owner)
    assert (body["name"], body["status"], body["trials"], body["done"]) == ("sampling", "checking", 2, 0)
    assert owner.get("/api/v1/experiments/").json()["results"][0]["id"] == body["id"]


def test_a_finished_experiment_has_results_in_three_forms(owner: APIClient) -> None:
    body = finished(owner)
    assert (body["status"], body["done"], body["failed"], body["remainingSeconds"]) == ("finished", 2, 0, None)
    results = json.loads(owner.get(f"{body['url']}results/").content)
    assert [variant["name"] for variant in results["variants"]] == ["all", "half"]
    assert owner.get(f"{body['url']}results/?as=csv").content.decode().startswith('"trial","variant","seed","error","placed",')
    by_column = json.loads(owner.get(f"{body['url']}results/?as=columns").content)
    assert by_column.keys() == described(ColumnarResults).keys() - {"search"}
    assert by_column["trials"].keys() == described(ColumnarTrials).keys()
    assert b"<h1>sampling</h1>" in owner.get(f"{body['url']}results/?as=html").content


def test_a_trial_that_failed_is_counted_as_failed_and_as_done(owner: APIClient) -> None:
    body = create(owner)
    checking.check(body["id"])
    ExperimentTrial.objects.filter(number=1).update(tries=trial_lease.MAX_TRIES)
    for number in range(2):
        trial_job.run(body["id"], number)
    trial_job._runners.clear()
    found = owner.get(body["url"]).json()
    assert (found["status"], found["trials"], found["done"], found["failed"]) == ("finished", 2, 2, 1)
    trials = json.loads(owner.get(f"{body['url']}results/").content)["trials"]
    assert [bool(trial["error"]) for trial in trials] == [False, True]


def test_variants_are_added_to_a_finished_experiment(owner: APIClient) -> None:
    body = finished(owner)
    new = PLAN.replace("50}]", "50}, {name: third, percentageOfNodesToScore: 30}]")
    added = owner.post(f"{body['url']}variants/", {"plan": new}, format="json")
    assert (added.status_code, added.json()["adding"], added.json()["trials"]) == (200, True, 2)
    checking.check(body["id"])
    found = owner.get(body["url"]).json()
    assert (found["adding"], found["status"], found["trials"], found["done"]) == (False, "running", 3, 2)
    refused = owner.post(f"{body['url']}variants/", {"plan": PLAN.replace("pods: 12", "pods: 13")}, format="json")
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("line 3: base: it cannot change")


def test_adding_variants_counts_towards_the_limit_of_new_sessions(owner: APIClient, settings: Any) -> None:
    body = create(owner)
    settings.NEW_SESSIONS_PER_MINUTE = 1
    asked = [owner.post(f"{body['url']}variants/", {"plan": PLAN}, format="json").status_code for _ in range(2)]
    assert asked == [400, 429]


def test_an_experiment_is_not_resumed_while_the_quota_of_bytes_is_used_up(owner: APIClient, settings: Any) -> None:
    body = create(owner)
    checking.check(body["id"])
    owner.post(f"{body['url']}pause/")
    settings.BYTES_PER_USER = 1
    quotas.clear_cache()
    refused = owner.post(f"{body['url']}resume/")
    assert (refused.status_code, refused.json()["code"]) == (409, "quota_reached")
    settings.BYTES_PER_USER = 0
    assert owner.post(f"{body['url']}resume/").json()["status"] == "running"


def test_only_a_few_requests_wait_while_a_plan_is_read(owner: APIClient) -> None:
    with ExitStack() as others:
        others.enter_context(_PLANS.slot())
        for _ in range(MAX_WAITING):
            others.enter_context(worker_waits.slot())
            requester.set(uuid4().hex)
        assert owner.post("/api/v1/experiments/", {"plan": PLAN}, format="json").status_code == 503
    assert owner.post("/api/v1/experiments/", {"plan": PLAN}, format="json").status_code == 201


@pytest.mark.parametrize("form", ["json", "columns", "csv", "html"])
def test_only_a_few_requests_read_large_results_at_a_time(owner: APIClient, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "_MAX_SMALL_RESULTS", 0)
    url = f"{finished(owner)['url']}results/?as={form}"
    # All places are taken, also those to wait in.
    with ExitStack() as others:
        for number in range(MAX_RESULTS + MAX_WAITING):
            token = requester.set(f"user {number}")
            others.enter_context(RESULTS.slot() if number < MAX_RESULTS else worker_waits.slot())
            requester.reset(token)
        assert owner.get(url).status_code == 503
        monkeypatch.undo()
        assert owner.get(url).status_code == 200


def test_results_of_many_trials_are_large_before_any_of_them_has_run(owner: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{create(owner)['url']}results/"
    read: list[Hashable] = []
    monkeypatch.setattr(RESULTS, "once", lambda key, fold: read.append(key) or fold())
    assert owner.get(url).status_code == 200
    assert not read

    Experiment.objects.update(trials=201)

    assert owner.get(url).status_code == 200
    assert len(read) == 1


def test_results_and_large_states_do_not_wait_for_each_other(owner: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "_MAX_SMALL_RESULTS", 0)
    with ExitStack() as others:
        for number in range(MAX_STATES):
            token = requester.set(f"user {number}")
            others.enter_context(STATES.slot())
            requester.reset(token)
        assert owner.get(f"{finished(owner)['url']}results/").status_code == 200


def test_csv_needs_no_details_of_trials(owner: APIClient) -> None:
    body = finished(owner)
    ExperimentTrial.objects.update(detail=b"unreadable")
    assert owner.get(f"{body['url']}results/?as=csv").status_code == 200


def test_results_have_series_unless_excluded(owner: APIClient) -> None:
    url = f"{finished(owner)['url']}results/"
    results, without = (json.loads(owner.get(url + query).content) for query in ("", "?series=0"))
    assert {"key": "nodesUsed", "title": "Nodes with a pod, DaemonSets aside", "unit": "nodes"} in results["series"]
    assert results["trials"][0]["seriesAxis"] == "pods"
    assert results["trials"][0]["series"]["placed"]["values"][-1] == 12
    assert (without["trials"][0]["series"], without["series"]) == ({}, [])


def test_results_without_times_are_byte_identical(owner: APIClient) -> None:
    first, second = (owner.get(f"{finished(owner)['url']}results/?times=0").content for _ in range(2))
    assert first == second


def test_a_malformed_plan_is_refused_with_its_line(owner: APIClient) -> None:
    response = owner.post("/api/v1/experiments/", {"plan": PLAN.replace("50", "many")}, format="json")
    assert response.status_code == 400
    assert response.json()["detail"].startswith("line 4: variants[1].percentageOfNodesToScore: expected")


def test_a_refused_plan_lists_its_errors(owner: APIClient) -> None:
    body = create(owner, PLAN.replace("percentageOfNodesToScore: 50", "plugins: {Nothing: true}"))
    checking.check(body["id"])
    response = owner.get(body["url"]).json()
    assert response["status"] == "refused"
    assert (response["faults"][0]["line"], response["faults"][0]["variant"]) == (4, "half")


def test_experiments_pause_resume_and_cancel(owner: APIClient) -> None:
    body = create(owner)
    assert owner.post(f"{body['url']}pause/").status_code == 409, "its plan is being checked"
    checking.check(body["id"])
    assert owner.post(f"{body['url']}pause/").json()["status"] == "paused"
    assert owner.post(f"{body['url']}resume/").json()["status"] == "running"
    assert owner.post(f"{body['url']}cancel/").json()["status"] == "cancelled"
    assert owner.delete(body["url"]).status_code == 204
    assert owner.get(body["url"]).status_code == 404


def test_a_trial_becomes_a_session_of_its_owner(owner: APIClient) -> None:
    body = finished(owner)
    response = owner.post(f"{body['url']}trials/1/session/")
    assert response.status_code == 201
    assert (response.json()["name"], response.json()["status"], response.json()["role"]) == ("sampling: half", "importing", "owner")
    assert owner.post(f"{body['url']}trials/2/session/").status_code == 404


def test_only_its_owner_has_access_to_an_experiment(people: People, owner: APIClient) -> None:
    url = create(owner)["url"]
    for role in ("editor", "viewer", "stranger", "staff"):
        client = people.client(role)
        assert client.get(url).status_code == 404
        assert client.get(f"{url}results/").status_code == 404
        assert client.post(f"{url}cancel/").status_code == 404
        assert client.delete(url).status_code == 404
    assert people.client("owner-read-token").get(url).status_code == 200
    assert people.client("owner-read-token").delete(url).status_code == 403


def test_a_server_limits_trials_and_experiments(owner: APIClient, settings: object) -> None:
    settings.EXPERIMENT_TRIALS, settings.EXPERIMENTS_PER_USER = 1, 1  # type: ignore[attr-defined]
    response = owner.post("/api/v1/experiments/", {"plan": PLAN}, format="json")
    assert "SCHEDVIZ_EXPERIMENT_TRIALS allows 1" in response.json()["detail"]
    create(owner, "experiment: 1\nbase: {generate: {}}")
    response = owner.post("/api/v1/experiments/", {"plan": "experiment: 1\nbase: {generate: {}}"}, format="json")
    assert (response.status_code, response.json()["code"]) == (409, "quota_reached")


def described(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The members of a struct in the OpenAPI document."""
    members: dict[str, Any] = SchemaGenerator().get_schema(public=True)["components"]["schemas"][struct.__name__]["properties"]
    return members


def test_results_by_column_are_described() -> None:
    operation = SchemaGenerator().get_schema(public=True)["paths"]["/api/v1/experiments/{experiment_id}/results/"]["get"]
    described_by = operation["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]
    assert [one["$ref"].rpartition("/")[2] for one in described_by] == ["Results", "ColumnarResults"]
