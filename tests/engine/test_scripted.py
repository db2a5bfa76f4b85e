"""The Scripted plugin in a whole simulation, also across a checkpoint."""

from __future__ import annotations

import pytest

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


def test_a_waiting_pre_bind_resumes_after_a_checkpoint():
    simulation = _simulation({"point": "preBind", "delaySeconds": 5})
    _do(simulation, {"op": "cycle"})
    assert _bound(simulation) == []

    simulation = Simulation.restore(simulation.checkpoint())
    _do(simulation, {"op": "advance", "seconds": 6})

    assert _bound(simulation) == ["default/p"]


def test_used_rules_stay_used_after_a_checkpoint():
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


def test_a_waiting_permit_times_out():
    simulation = _simulation({"point": "permit", "code": "Wait", "delaySeconds": 3, "times": 1})
    _do(simulation, {"op": "cycle"})
    simulation = Simulation.restore(simulation.checkpoint())
    _do(simulation, {"op": "advance", "seconds": 4})

    assert _bound(simulation) == []


CODES = ("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip")
NO_ERROR = "%!w(<nil>)"
BOUND = ("scheduled", "", "", "")
GATED = ("", "", "", "unschedulable")
NOT_HELPFUL = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
NO_VICTIMS = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.."


def failed(prefix, *, message="why", queue="unschedulable"):
    return ("error", "SchedulerError", f"{prefix}{message}", queue)


def unfit(message):
    return ("unschedulable", "Unschedulable", f"0/1 nodes are available: 1 {message}", "unschedulable")


def rejected(outcome):
    return (outcome, "Unschedulable", "why", "unschedulable")


def unbound(point, message="why"):
    """A failed binding moves the pod to backoffQ, because its AssignedPodDelete occurred in this cycle."""
    return ("scheduled", "SchedulerError", f'running {point} plugin "Scripted": {message}', "backoffQ")


#: For each of CODES: the outcome of the cycle, the reason and message of the pod's condition, and the pod's queue.
FATES = {
    "preEnqueue": (BOUND, GATED, GATED, GATED, GATED, GATED),
    "preFilter": (
        BOUND,
        failed('running PreFilter plugin "Scripted": '),
        *[("unschedulable", "Unschedulable", f"0/1 nodes are available: why. {NO_VICTIMS}", "unschedulable")] * 2,
        failed('running PreFilter plugin "Scripted": ', message=NO_ERROR),
        BOUND,
    ),
    "filter": (
        BOUND,
        failed('running "Scripted" filter plugin: '),
        unfit(f"why. {NO_VICTIMS}"),
        unfit(f"why. {NOT_HELPFUL}."),
        *[failed('running "Scripted" filter plugin: ', message=NO_ERROR)] * 2,
    ),
    "postFilter": (
        *[unfit("full. why.")] * 4,
        *[unfit(f'full. plugin "Scripted" answered {code}, which means nothing at PostFilter.') for code in ("Wait", "Skip")],
    ),
    "preScore": (
        BOUND,
        *[failed('running PreScore plugin "Scripted": ')] * 3,
        failed('running PreScore plugin "Scripted": ', message=NO_ERROR),
        BOUND,
    ),
    "score": (
        BOUND,
        *[failed('running Score plugins: plugin "Scripted" failed with: ')] * 3,
        *[failed('running Score plugins: plugin "Scripted" failed with: ', message=NO_ERROR)] * 2,
    ),
    "reserve": (
        BOUND,
        *[failed('running Reserve plugin "Scripted": ')] * 3,
        *[failed('running Reserve plugin "Scripted": ', message=NO_ERROR)] * 2,
    ),
    "permit": (
        BOUND,
        failed('running Permit plugin "Scripted": '),
        *[rejected("unschedulable")] * 2,
        ("scheduled", "Unschedulable", "rejected due to timeout after waiting 0s at plugin Scripted", "unschedulable"),
        failed('running Permit plugin "Scripted": ', message=NO_ERROR),
    ),
    "preBind": (BOUND, unbound("PreBind"), *[rejected("scheduled")] * 2, *[unbound("PreBind", NO_ERROR)] * 2),
    # A plugin that returns Success without binding. If the last plugin skips there is no error, and so neither condition nor event.
    "bind": (BOUND, unbound("Bind"), *[rejected("scheduled")] * 2, unbound("Bind", NO_ERROR), ("scheduled", "", "", "backoffQ")),
}


def _fate(point, code):
    """The outcome for a pod if Scripted is the only plugin of the extension point, where that is possible."""
    plugins = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    if point in ("postFilter", "bind"):
        plugins[point] = {"enabled": [{"name": "Scripted"}], "disabled": [{"name": "*"}]}
    rules = [{"point": point, "code": code, "reasons": ["why"]}]
    if point == "postFilter":
        rules.append({"point": "filter", "code": "Unschedulable", "reasons": ["full"]})
    config = {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": rules}}]}]}
    simulation = Simulation(SimulationSettings(config=config))
    simulation.records = "full"
    for name in ("n", "m") if point in ("preScore", "score") else ("n",):  # a single node is not scored
        _do(simulation, {"op": "create", "object": {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}}})
    _do(simulation, {"op": "create", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}})
    _do(simulation, {"op": "cycle"})

    cycle = simulation.last_cycle or {"outcome": ""}
    conditions = [condition for condition in simulation.cluster.find("Pod", "default/p").status.conditions if condition.status == "False"]
    queue = simulation.observed_state()["queue"]
    waits = [name for name in ("activeQ", "backoffQ", "unschedulable") if queue[name]]
    reason, message = (conditions[0].reason, conditions[0].message) if conditions else ("", "")
    return cycle["outcome"], reason, message, "".join(waits)


@pytest.mark.parametrize(
    ("point", "code", "fate"), [(point, code, fate) for point, row in FATES.items() for code, fate in zip(CODES, row, strict=True)]
)
def test_the_outcome_for_every_code_at_every_extension_point(point, code, fate):
    assert _fate(point, code) == fate


def _find_node(simulation, name):
    return name in [item["name"] for item in simulation.observed_state()["cache"]["list"]]


def test_a_node_that_a_plugin_did_not_find_stays_in_the_cache():
    """The plugin's error arrives wrapped, and upstream looks at the outermost one."""
    simulation = _simulation({"point": "reserve", "code": "Error", "notFoundNode": "n"})
    _do(simulation, {"op": "cycle"})
    assert _find_node(simulation, "n")

    _do(simulation, {"op": "delete", "kind": "Node", "name": "n", "drop": "watch"})
    _do(simulation, {"op": "advance", "seconds": 400})
    _do(simulation, {"op": "cycle"})

    assert _find_node(simulation, "n")


def _pod_of_v1_36(*rules):
    """A simulation in which the only pod was scheduled on the only node."""
    every_point = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    config = {"profiles": [{"plugins": every_point, "pluginConfig": [{"name": "Scripted", "args": {"rules": list(rules)}}]}]}
    simulation = Simulation(SimulationSettings(config=config, release="v1.36"))
    _do(simulation, {"op": "create", "object": {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}}})
    _do(simulation, {"op": "create", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}})
    _do(simulation, {"op": "schedule"})
    return simulation


def _queued(simulation):
    queue = simulation.observed_state()["queue"]
    names = ("activeQ", "backoffQ", "errorBackoffQ", "unschedulable")
    return {name: (pod["unschedulablePlugins"], pod["pendingPlugins"]) for name in names for pod in queue[name]}


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("filter", f"0/1 nodes are available: 1 later. no new claims to deallocate, {NOT_HELPFUL}"),
        ("reserve", "0/1 nodes are available: 1 later."),
        ("permit", "0/1 nodes are available: 1 later."),
    ],
)
def test_v1_36_a_pending_pod_is_unschedulable_and_lists_the_plugin_twice(point, message):
    simulation = _pod_of_v1_36({"point": point, "code": "Pending", "reasons": ["later"]})

    (condition,) = simulation.cluster.find("Pod", "default/p").status.conditions
    assert (condition.reason, condition.message) == ("Unschedulable", message)
    # The patch of its status moves it, without backoff: Scripted is interested in all events.
    assert _queued(simulation) == {"activeQ": (["Scripted"], ["Scripted"])}


def test_v1_36_a_binding_that_becomes_pending_is_unschedulable_without_plugins():
    simulation = _pod_of_v1_36({"point": "preBind", "code": "Pending", "reasons": ["later"]})
    _do(simulation, {"op": "bind", "pod": "*"})

    (condition,) = [own for own in simulation.cluster.find("Pod", "default/p").status.conditions if own.status == "False"]
    assert (condition.reason, condition.message) == ("Unschedulable", "later")
    assert _queued(simulation) == {"errorBackoffQ": ([], [])}


def test_v1_36_a_pod_that_is_deleted_while_it_waits_at_permit_is_not_retried():
    simulation = _pod_of_v1_36({"point": "permit", "code": "Wait", "delaySeconds": 60})
    _do(simulation, {"op": "delete", "kind": "Pod", "name": "p", "graceful": True})
    _do(simulation, {"op": "bind", "pod": "*"})
    _do(simulation, {"op": "advance", "seconds": 20})

    assert _queued(simulation) == {"unschedulable": ([""], [])}
