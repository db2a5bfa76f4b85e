"""Whether a real scheduler made the choice of this engine, and why not; the engine stays unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns, StatefulPluginError
from schedviz.explain.shadowing.in_flight import bound_pod
from schedviz.explain.shadowing.judgement import Choice, Judgement, Share
from schedviz.explain.shadowing.shadow import choose, judge
from schedviz.kube.core import Pod
from tests.explain.small_clusters import cluster, do, node, pod


def choice_of(simulation: Simulation, name: str, dry_runs: LiveDryRuns | None = None) -> Choice:
    with (dry_runs or LiveDryRuns()).dry_run(simulation, the(simulation, name)) as dry_run:
        return choose(simulation, dry_run)


def judgement_of(simulation: Simulation, name: str, on: str) -> Judgement:
    with LiveDryRuns().dry_run(simulation, the(simulation, name)) as dry_run:
        return judge(simulation, dry_run, on)


def the(simulation: Simulation, name: str) -> Pod:
    pod_ = simulation.cluster.find("Pod", f"default/{name}")
    assert isinstance(pod_, Pod)
    return pod_


def test_any_of_the_best_nodes_agrees() -> None:
    simulation = cluster(node("n1"), node("n2"), node("n3", cpu="2"), pod("p"))
    for taken in ("n1", "n2"):
        result = judgement_of(simulation, "p", taken)
        assert (result.verdict, result.choice and result.choice.best) == ("agrees", ("n1", "n2"))


def test_a_feasible_node_that_is_not_best_says_which_plugins_make_the_difference() -> None:
    result = judgement_of(cluster(node("empty"), node("used"), pod("on-it", cpu="2", on="used"), pod("p")), "p", "used")
    assert result.verdict == "notBest"
    assert result.choice is not None
    assert result.choice.total - result.total == sum(share.best - share.taken for share in result.shares)
    assert result.shares[0] == Share("NodeResourcesFit", best=86, taken=61)


def test_a_rejected_node_names_its_plugin() -> None:
    result = judgement_of(cluster(node("n1"), node("full", cpu="1"), pod("on-it", on="full"), pod("p")), "p", "full")
    assert (result.verdict, result.plugin, result.reasons) == ("infeasible", "NodeResourcesFit", ("Insufficient cpu",))


def test_a_node_that_the_session_does_not_have_is_not_judged() -> None:
    assert judgement_of(cluster(node("n1"), pod("p")), "p", "gone").verdict == "unjudged"


def test_without_a_feasible_node_the_choice_has_the_fit_error() -> None:
    result = choice_of(cluster(node("n1", cpu="1"), pod("p", cpu="2")), "p")
    assert (result.feasible, result.best, result.message) == (0, (), "0/1 nodes are available: 1 Insufficient cpu.")


def test_the_nominated_node_is_the_one_that_is_chosen() -> None:
    simulation = cluster(node("n1"), node("used"), pod("on-it", cpu="2", on="used"), {**pod("p"), "status": {"nominatedNodeName": "used"}})
    assert judgement_of(simulation, "p", "used").verdict == "agrees"
    assert judgement_of(simulation, "p", "n1").verdict == "notBest"


def test_a_dry_run_of_the_shadow_equals_the_next_cycle_after_any_commands() -> None:
    simulation, dry_runs = cluster(node("n1"), node("n2", cpu="3"), pod("p1"), pod("p2"), pod("p3", cpu="2")), LiveDryRuns()
    for name in ("p1", "p2", "p3"):
        expected = choice_of(simulation, name, dry_runs)
        do(simulation, "cycle")
        assert the(simulation, name).spec.node_name or simulation.shown_cycle
        assert simulation.shown_cycle is not None
        assert simulation.shown_cycle.node in expected.best


def test_dry_runs_leave_the_engine_and_its_random_draws_unchanged() -> None:
    apart: dict[str, Any] = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    web = pod("web", labels={"app": "web"}, affinity=affinity)
    simulation = cluster(node("n1"), node("n2"), web, pod("p"))
    simulation.drain_events()
    before, event = simulation.state_hash(), simulation.event
    draws = simulation.random_source.getstate()
    snapshot = simulation.scheduler.state.snapshot

    dry_runs = LiveDryRuns()
    for name in ("web", "p", "web"):
        choice_of(simulation, name, dry_runs)

    assert (simulation.state_hash(), simulation.event, list(simulation.pending_events)) == (before, event, [])
    assert simulation.random_source.getstate() == draws
    assert simulation.scheduler.state.snapshot is snapshot
    assert all(framework.snapshot is snapshot for framework in simulation.scheduler.state.profiles.values())
    assert snapshot.num_nodes == 0


def test_a_stateful_plugin_is_not_run() -> None:
    scripted = {"name": "Scripted", "args": {"rules": [{"point": "filter", "times": 1, "code": "Unschedulable"}]}}
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": {"multiPoint": {"enabled": [{"name": "Scripted"}]}},
        "pluginConfig": [scripted],
    }
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    simulation = cluster(node("n1"), pod("p"), config=config)
    with pytest.raises(StatefulPluginError, match="Scripted"):
        choice_of(simulation, "p")


def test_an_assumed_pod_counts_only_in_dry_runs_of_other_pods() -> None:
    simulation = cluster(node("n1"), node("n2", cpu="3"), pod("assumed", cpu="3500m"), pod("p"))
    info = simulation.scheduler.state.pod_info(bound_pod(the(simulation, "assumed"), "n1"))
    dry_runs = LiveDryRuns(assumed=lambda _: [info])

    assert choice_of(simulation, "p", dry_runs).best == ("n2",)
    assert choice_of(simulation, "assumed", dry_runs).best == ("n1",)
    assert choice_of(simulation, "p", dry_runs).best == ("n2",)
    with dry_runs.dry_run(simulation, the(simulation, "p"), moved=dry_runs.moved_pods(simulation)) as dry_run:
        assert choose(simulation, dry_run).best == ("n2",)
    assert choice_of(simulation, "p").best == ("n1",)
