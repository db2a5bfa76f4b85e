import random

import pytest

from schedviz.engine.framework.interface import FilterReads


def _crowded(world, seed):
    """Nodes of several sizes with pods of several priorities, and a budget allows one eviction."""
    draw = random.Random(seed)
    for index in range(12):
        name = f"n{index:02d}"
        world.node(name, {"cpu": str(draw.randint(1, 6)), "memory": "8Gi", "pods": str(draw.randint(3, 8))})
        for number in range(draw.randint(0, 6)):
            requests = {"cpu": f"{draw.randint(1, 12) * 100}m", "memory": f"{draw.randint(1, 3)}Gi"}
            world.pod(f"{name}-{number}", requests, on=name, priority=draw.randint(0, 4), labels={"app": draw.choice("ab")})
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"}}
    world.object({**budget, "spec": {"selector": {"matchLabels": {"app": "a"}}}, "status": {"disruptionsAllowed": 1}})


@pytest.mark.parametrize("seed", range(20))
def test_dry_runs_of_all_nodes_at_once_find_what_dry_runs_of_one_node_find(world, seed, monkeypatch):
    _crowded(world, seed)
    pod = world.pod("p", {"cpu": "2500m", "memory": "4Gi"}, priority=3)
    framework = world.framework()
    _, _outcome, state = world.filter(framework, pod)
    plugin = framework.plugins.by_name["DefaultPreemption"]
    nodes = framework.snapshot.node_info_list

    assert framework.filter_reads(state, pod) is FilterReads.SUMS
    at_once = list(plugin.select_victims(state, pod, nodes, 3))
    monkeypatch.setattr(framework, "filter_reads", lambda state, pod: FilterReads.PODS)
    one_by_one = list(plugin.select_victims(state, pod, nodes, 3))

    shown = [
        [
            (found.node, [victim.key for victim in found.pods], found.num_pdb_violations) if hasattr(found, "pods") else found
            for found in run
        ]
        for run in (at_once, one_by_one)
    ]
    assert shown[0] == shown[1]
    assert any(isinstance(found, tuple) for found in shown[0])
