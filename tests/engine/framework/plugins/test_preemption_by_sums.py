import random

import pytest

from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.framework.interface import FilterReads
from schedviz.engine.framework.plugins.defaultpreemption.dry_run_by_sums import DryRunBySums
from schedviz.engine.framework.preemption.potential_victims import most_important_first
from schedviz.kube.timestamps import format_timestamp


def _crowded(world, seed, *, with_budget=True):
    """Nodes of several sizes with pods of several priorities, some not started, and a budget that allows one eviction."""
    draw, draw_start = random.Random(seed), random.Random(seed + 1000)
    world.now = 30 * SECOND
    for index in range(12):
        name = f"n{index:02d}"
        world.node(name, {"cpu": str(draw.randint(1, 6)), "memory": "8Gi", "pods": str(draw.randint(3, 8))})
        for number in range(draw.randint(0, 6)):
            requests = {"cpu": f"{draw.randint(1, 12) * 100}m", "memory": f"{draw.randint(1, 3)}Gi"}
            started = draw_start.choice([None, *(format_timestamp(EPOCH_SECONDS + second) for second in (10, 20, 30, 40))])
            status = {"startTime": started} if started else {}
            world.pod(f"{name}-{number}", requests, on=name, priority=draw.randint(0, 4), labels={"app": draw.choice("ab")}, status=status)
    if not with_budget:
        return
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"}}
    world.object({**budget, "spec": {"selector": {"matchLabels": {"app": "a"}}}, "status": {"disruptionsAllowed": 1}})


def _statuses(search):
    """Each row's victims or status."""
    results = dict(search.found)
    return [results.get(row, search.verdicts[row]) for row in range(len(search.verdicts))]


def _found(world, search):
    """Each row's victims with what they cost, or its status."""
    return [
        (outcome.node, [victim.key for victim in outcome.pods], outcome.cost, outcome.earliest_start(world.now))
        if hasattr(outcome, "pods")
        else outcome
        for outcome in _statuses(search)
    ]


@pytest.mark.parametrize("with_budget", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_dry_runs_of_all_nodes_at_once_find_what_dry_runs_of_one_node_find(world, seed, with_budget, monkeypatch):
    _crowded(world, seed, with_budget=with_budget)
    pod = world.pod("p", {"cpu": "2500m", "memory": "4Gi"}, priority=3)
    framework = world.framework()
    _, _outcome, state = world.filter(framework, pod)
    plugin = framework.plugins.by_name["DefaultPreemption"]

    assert framework.filter_reads(state, pod) is FilterReads.SUMS
    at_once = _found(world, plugin.select_victims(state, pod, framework.snapshot.rows(), 3))
    monkeypatch.setattr(framework, "filter_reads", lambda state, pod: FilterReads.PODS)
    one_by_one = _found(world, plugin.select_victims(state, pod, framework.snapshot.rows(), 3))

    assert at_once == one_by_one
    assert any(isinstance(found, tuple) for found in at_once)


@pytest.mark.parametrize("seed", range(20))
def test_a_dry_run_finds_the_same_after_dry_runs_for_equal_pods_on_nodes_that_changed_since(world, seed, monkeypatch):
    _crowded(world, seed, with_budget=False)
    draw = random.Random(seed)
    for attempt in range(4):
        pod = world.pod(f"p{attempt}", {"cpu": "2500m", "memory": "4Gi"}, priority=3)
        framework = world.framework()
        _, _outcome, state = world.filter(framework, pod)
        plugin = framework.plugins.by_name["DefaultPreemption"]
        rows = framework.snapshot.rows()
        after_others = _found(world, plugin.select_victims(state, pod, rows, 3))
        with monkeypatch.context() as patch:
            patch.setattr(framework, "filter_sums_key", lambda state, pod: None)
            alone = _found(world, plugin.select_victims(state, pod, rows, 3))
        assert after_others == alone

        world.pod(f"new-{attempt}", {"cpu": "300m"}, on=f"n{draw.randrange(12):02d}", priority=draw.randint(0, 4))
        nominated = world.pod(f"other-{attempt}", {"cpu": "200m"}, priority=draw.randint(2, 5))
        world.nominations.pods.setdefault(f"n{draw.randrange(12):02d}", []).append(nominated)


def test_equal_pods_try_a_node_once_until_it_changes(world, monkeypatch):
    for name in ("n1", "n2"):
        world.node(name, {"cpu": "4", "pods": "10"})
        world.pod(f"low-{name}", {"cpu": "3"}, on=name, priority=0)
    framework = world.framework()
    plugin = framework.plugins.by_name["DefaultPreemption"]
    tried = []
    reprieve = DryRunBySums.reprieve

    def note_rows(dry_run, places, table, ask):
        tried.append([dry_run.rows.names[place] for place in places])
        reprieve(dry_run, places, table, ask)

    monkeypatch.setattr(DryRunBySums, "reprieve", note_rows)

    def search(name):
        pod = world.pod(name, {"cpu": "2"}, priority=3)
        _, _outcome, state = world.filter(framework, pod)
        return _statuses(plugin.select_victims(state, pod, framework.snapshot.rows(), 10))

    search("first")
    search("second")
    world.pod("small", {"cpu": "500m"}, on="n2", priority=0)
    search("third")

    assert tried == [["n1", "n2"], ["n2"]]


def test_potential_victims_are_kept_until_their_node_changes(world):
    world.node("n")
    world.pod("old", on="n", priority=0)
    world.update()
    before = most_important_first(world.snapshot.rows(), 3, world.now)

    again = most_important_first(world.snapshot.rows(), 3, world.now)
    world.pod("new", on="n", priority=1)
    world.update()
    changed = most_important_first(world.snapshot.rows(), 3, world.now)

    assert again[0] is before[0]
    assert [pod.name for pod in changed[0].pods] == ["new", "old"]


def test_sums_of_requests_wrap_as_in_a_dry_run_of_one_node(world, monkeypatch):
    world.node("n", {"cpu": "4", "pods": "10"})
    for number in range(3):
        world.pod(f"huge-{number}", {"memory": str(2**63 - 1)}, on="n", priority=0)
    pod = world.pod("p", {"memory": str(2**63 - 1)}, priority=3)
    framework = world.framework()
    _, _outcome, state = world.filter(framework, pod)
    plugin = framework.plugins.by_name["DefaultPreemption"]

    at_once = _found(world, plugin.select_victims(state, pod, framework.snapshot.rows(), 3))
    monkeypatch.setattr(framework, "filter_reads", lambda state, pod: FilterReads.PODS)

    assert at_once == _found(world, plugin.select_victims(state, pod, framework.snapshot.rows(), 3))
