"""Scripted in a whole simulation, also across a checkpoint."""

from __future__ import annotations

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.commands import convert_command


def _simulation(*rules):
    plugins = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    config = {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": list(rules)}}]}]}
    simulation = Simulation(SimulationSettings(config=config))
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    for body in (node, pod):
        _do(simulation, {"op": "create", "object": body})
    return simulation


def _do(simulation, body):
    simulation.start(convert_command(body))
    return simulation.work()


def _bound(simulation):
    return [pod.key for pod in simulation.stored_objects() if type(pod).__name__ == "Pod" and pod.spec.node_name]


def test_a_slow_pre_bind_is_taken_up_after_a_checkpoint():
    simulation = _simulation({"point": "preBind", "delaySeconds": 5})
    _do(simulation, {"op": "cycle"})
    assert _bound(simulation) == []

    simulation = Simulation.restore(simulation.checkpoint())
    _do(simulation, {"op": "advance", "seconds": 6})

    assert _bound(simulation) == ["default/p"]


def test_a_rule_that_has_answered_has_answered_after_a_checkpoint_too():
    rule = {"point": "filter", "code": "Unschedulable", "reasons": ["not today"], "times": 1}
    simulation = _simulation(rule)
    _do(simulation, {"op": "cycle"})
    assert _bound(simulation) == []

    simulation = Simulation.restore(simulation.checkpoint())
    node = {"kind": "Node", "metadata": {"name": "m"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
    _do(simulation, {"op": "create", "object": node})
    _do(simulation, {"op": "advance", "seconds": 20})
    _do(simulation, {"op": "cycle"})

    assert _bound(simulation) == ["default/p"]


def test_a_permit_that_waits_is_rejected_in_the_end():
    simulation = _simulation({"point": "permit", "code": "Wait", "delaySeconds": 3, "times": 1})
    _do(simulation, {"op": "cycle"})
    simulation = Simulation.restore(simulation.checkpoint())
    _do(simulation, {"op": "advance", "seconds": 4})

    assert _bound(simulation) == []
