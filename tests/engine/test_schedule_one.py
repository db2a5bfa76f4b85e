"""Cycles of unusual pods. The expected results were seen in runs of kube-scheduler v1.27.1."""

from __future__ import annotations

import pytest

from schedviz.trace.events import CycleEnded, CycleStarted, EventRecorded, StageEnded
from schedviz.trace.releases import RELEASES

from .clusters import do, four_nodes, node, pod


def test_a_pod_that_was_updated_in_the_queue_is_scheduled_by_its_new_affinity() -> None:
    near_nobody = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "nowhere", "labelSelector": {}}]}}
    simulation = four_nodes()
    simulation.records = "full"
    do(simulation, "create", object={"apiVersion": "v1", **pod("a", affinity=near_nobody)})
    do(simulation, "cycle")
    do(simulation, "update", object={"apiVersion": "v1", **pod("a")})
    do(simulation, "advance", seconds=10)
    do(simulation, "cycle")
    record = simulation.last_cycle
    assert record is not None
    assert record["outcome"] == "scheduled"
    assert "InterPodAffinity" in record["skippedFilterPlugins"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_percent_sign_in_a_message_goes_through_the_format_of_the_event(release: str) -> None:
    simulation = four_nodes(pod("a"), release=release)
    do(simulation, "schedule")
    do(simulation, "bind_fail", pod="*", message="100% wrong")
    notes = [event.note for event in simulation.drain_events() if isinstance(event, EventRecorded)]
    assert notes == ['running Bind plugin "DefaultBinder": 100%!w(MISSING)rong']


@pytest.mark.parametrize(("release", "message"), [("v1.27.1", "50%!d(MISSING)own"), ("v1.36", "50% down")])
def test_a_percent_sign_in_an_extender_s_error_goes_through_a_format_in_v1_27_1(release: str, message: str) -> None:
    extender = {"name": "e1", "filterVerb": True, "error": {"filter": "50% down"}}
    simulation = four_nodes(pod("a"), release=release, fake_extenders=[extender])
    simulation.records = "full"
    do(simulation, "cycle")
    record = simulation.last_cycle
    assert record is not None
    assert record["message"] == message


def test_a_pod_inherits_the_nomination_of_a_pod_of_its_name_whose_deletion_was_missed() -> None:
    simulation = four_nodes(pod("a", cpu="100"), pod("b", cpu="100"))
    do(simulation, "run")
    assert simulation.observed_state()["queue"]["nominated"] == {"": ["default/a", "default/b"]}
    do(simulation, "delete", kind="Pod", namespace="default", name="a", drop="watch")
    do(simulation, "create", object={"apiVersion": "v1", **pod("a", cpu="100")})
    assert simulation.observed_state()["queue"]["nominated"] == {"": ["default/a", "default/b"]}


def test_a_short_record_shows_that_a_pod_was_popped_from_backoff_q() -> None:
    simulation = four_nodes(pod("a", cpu="100"), release="v1.36")
    simulation.records = "placement"
    do(simulation, "cycle")
    do(simulation, "create", object={"apiVersion": "v1", **node("large", cpu="200")})
    do(simulation, "cycle")

    (record,) = [record for _, record in simulation.cycle_records]
    assert (record["node"], record["poppedFrom"]) == ("large", "backoffQ")


def test_the_end_of_a_cycle_names_its_pod() -> None:
    simulation = four_nodes(pod("a"), pod("b", cpu="100"))
    do(simulation, "run")
    events = simulation.drain_events()

    ended = [event.pod for event in events if isinstance(event, CycleEnded)]
    assert set(ended) == {"default/a", "default/b"}
    assert ended == [event.pod for event in events if isinstance(event, CycleStarted)]


def test_a_rejection_by_an_extender_counts_without_post_filter_plugins_in_v1_36() -> None:
    extender = {"name": "e1", "filterVerb": True, "filter": {"allowNodes": []}}
    without = {"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}]}
    simulation = four_nodes(pod("a"), release="v1.36", fake_extenders=[extender], config=without)
    do(simulation, "schedule")

    queue = simulation.observed_state()["queue"]
    assert queue["errorBackoffQ"] == []
    (waiting,) = [*queue["unschedulable"], *queue["backoffQ"]]
    assert waiting["unschedulablePlugins"] == ["Extender"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_pod_that_was_recreated_for_another_scheduler_during_its_cycle_leaves_the_queue(release: str) -> None:
    simulation = four_nodes(pod("a", cpu="100"), release=release)
    other = {"apiVersion": "v1", **pod("a", cpu="100", schedulerName="another")}
    delete = {"op": "delete", "kind": "Pod", "namespace": "default", "name": "a", "drop": "handlers"}
    do(simulation, "schedule", during=[delete, {"op": "create", "object": other, "drop": "handlers"}])
    do(simulation, "create", object={"apiVersion": "v1", **pod("b")})
    do(simulation, "advance", seconds=400)

    outcome = do(simulation, "run")

    assert outcome.error == ""
    assert simulation.observed_state()["queue"]["unschedulable"] == []
    assert not simulation.scheduler.has_pods_to_pop
    ended = [event for event in simulation.drain_events() if isinstance(event, CycleEnded)]
    assert [(event.cycle, event.pod) for event in ended] == [(1, "default/a"), (2, "default/b")]


@pytest.mark.parametrize("release", RELEASES)
def test_the_stages_score_and_normalize_score_have_the_scores_of_the_two_best_nodes(release: str) -> None:
    simulation = four_nodes(pod("a"), pod("b"), release=release)
    do(simulation, "run")
    events = simulation.drain_events()
    ended = next(event for event in events if isinstance(event, CycleEnded))
    stages = {event.stage: event.facts for event in events if isinstance(event, StageEnded) and event.cycle == ended.cycle}
    assert ended.winner is not None
    plugins = stages["Score"]["plugins"]

    best = {one["node"]: one["raw"] for one in stages["Score"]["best"]}
    normalized = {one["node"]: one for one in stages["NormalizeScore"]["best"]}

    assert len(best) == 2
    assert best.keys() == normalized.keys()
    assert all(len(raw) == len(plugins) for raw in best.values())
    assert {one["total"] for one in normalized.values()} <= {ended.winner.total, ended.runner_up.total if ended.runner_up else 0}
    scores = {score.plugin: (score.raw, score.normalized, score.weight) for score in ended.winner.scores}
    if ended.winner.node in best:
        values = normalized[ended.winner.node]["normalized"]
        assert scores == {
            plugin: (best[ended.winner.node][index], values[index], stages["NormalizeScore"]["weights"][index])
            for index, plugin in enumerate(plugins)
        }
