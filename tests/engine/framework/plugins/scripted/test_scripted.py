"""Scripted returns its configured codes, and the framework's result for each code and extension point equals upstream's."""

import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.runtime import PluginListsError

SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE = "Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable"
CODES = (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, "Wait", "Skip")

#: The result of each code, in the order of CODES.
MATRIX = {
    "preEnqueue": CODES,
    "preFilter": (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, ERROR, SUCCESS),
    "filter": (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, ERROR, ERROR),
    # Upstream's process panics at Wait and Skip here (AsStatus of no error is nil).
    "postFilter": (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, ERROR, ERROR),
    "preScore": (SUCCESS, ERROR, ERROR, ERROR, ERROR, SUCCESS),
    "score": (SUCCESS, ERROR, ERROR, ERROR, ERROR, ERROR),
    "reserve": (SUCCESS, ERROR, ERROR, ERROR, ERROR, ERROR),
    "permit": (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, "Wait", ERROR),
    "preBind": (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, ERROR, ERROR),
    "bind": (SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, ERROR, "Skip"),
}


@pytest.fixture
def scripted(world):
    def make(*rules):
        world.node("n1")
        world.node("n2")
        world.update()
        entries = [{"name": name} for name in ("PrioritySort", "Scripted")]
        plugins = {"multiPoint": {"enabled": entries, "disabled": [{"name": "*"}]}, "bind": {"enabled": [{"name": "DefaultBinder"}]}}
        config = {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": list(rules)}}]}]}
        if any(rule.get("point") == "bind" for rule in rules):
            plugins["bind"] = {}
        return world.framework(config)

    return make


def _ask(framework, world, point):
    state, pod, rows = CycleState(), world.pod("p"), world.snapshot.rows()
    match point:
        case "preEnqueue":
            return framework.run_pre_enqueue_plugins(pod).status
        case "preFilter":
            return framework.run_pre_filter_plugins(state, pod).status
        case "filter":
            return framework.run_filter_plugins(state, pod, rows)[0]
        case "postFilter":
            return framework.run_post_filter_plugins(state, pod, {}).status
        case "preScore":
            return framework.run_pre_score_plugins(state, pod, rows).status
        case "score":
            return framework.run_score_plugins(state, pod, rows).status
        case "reserve":
            return framework.run_reserve_plugins_reserve(state, pod, "n1").status
        case "permit":
            return framework.run_permit_plugins(state, pod, "n1").status
        case "preBind":
            return framework.run_pre_bind_plugins(state, pod, "n1").status
        case _:
            return framework.run_bind_plugins(state, pod, "n1").status


@pytest.mark.parametrize(
    ("point", "code", "outcome"), [(point, code, to) for point, row in MATRIX.items() for code, to in zip(CODES, row, strict=True)]
)
def test_every_code_at_every_extension_point(world, scripted, point, code, outcome):
    assert _ask(scripted({"point": point, "code": code, "reasons": ["why"], "delaySeconds": 0}), world, point).code == outcome


@pytest.mark.parametrize("point", MATRIX)
def test_an_exception_of_the_script_is_an_error_status(world, scripted, point):
    status = _ask(scripted({"point": point, "raise": "boom"}), world, point)

    assert status.code == ERROR
    assert status.message.endswith("RuntimeError: boom")


def test_a_rule_applies_to_its_pods_and_nodes_a_limited_number_of_times(world, scripted):
    framework = scripted({"point": "filter", "pods": ["default/a"], "nodes": ["n2"], "code": UNSCHEDULABLE, "reasons": ["x"], "times": 1})
    rows = world.snapshot.rows()

    def rejected(name):
        verdicts = framework.run_filter_plugins(CycleState(), world.pod(name), rows)
        return [node for row, node in enumerate(rows.names) if not verdicts[row].is_success]

    assert rejected("b") == []
    assert rejected("a") == ["n2"]
    assert rejected("a") == []


def test_a_rule_can_return_a_not_found_error_about_a_node(world, scripted):
    status = _ask(scripted({"point": "reserve", "code": ERROR, "notFoundNode": "n1"}), world, "reserve")

    assert status.message == 'running Reserve plugin "Scripted": nodes "n1" not found'
    assert (status.error.not_found_kind, status.error.not_found_name) == ("node", "n1")


def test_pre_bind_waits_for_the_delay_of_its_rule(world, scripted):
    framework = scripted({"point": "preBind", "delaySeconds": 2})
    state, pod = CycleState(), world.pod("p")

    assert framework.run_pre_bind_plugins(state, pod, "n1").status.is_wait
    world.now += 2_000_000_000
    assert framework.run_pre_bind_plugins(state, pod, "n1").status.is_success


def test_invalid_rules_are_rejected(scripted):
    with pytest.raises(PluginListsError, match='initializing plugin "Scripted": args: '):
        scripted({"point": "filter", "code": "Maybe"})
