"""v1.36: DeviceTaintRules, in the functions that add their taints and in sessions with the gate."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.framework.plugins.dynamicresources.device_taint_rules import TaintedSlices, changed_slices, tainted
from schedviz.explain.changes import smallest_change
from schedviz.explain.device_inventory import device_inventory
from schedviz.explain.why import why_pending
from schedviz.kube.devices import DeviceTaintRule, ResourceSlice
from schedviz.trace.events import QueueMoved, WatchDelivered
from tests.engine.clusters import do, node, objects, pod
from tests.engine.framework.plugins.dynamicresources.builders import DRIVER, device, made, slice_of

API = "resource.k8s.io/v1"
#: Upstream's label of the event.
SLICE_UPDATE = "resource.k8s.io/ResourceSliceUpdate"
GATES = {"DRADeviceTaintRules": True}
KEY = "example.com/broken"


def rule_dict(name: str = "rule", *, effect: str = "NoSchedule", time: str | None = None, **selector: str) -> dict[str, Any]:
    """A rule for what the selector says; without one, it is for all devices."""
    spec: dict[str, Any] = {"taint": {"key": KEY, "value": name, "effect": effect}}
    if time:
        spec["taint"]["timeAdded"] = time
    if selector:
        spec["deviceSelector"] = selector
    return {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": name}, "spec": spec}


def rule(name: str = "rule", **members: Any) -> DeviceTaintRule:
    result: DeviceTaintRule = made(rule_dict(name, **members))
    return result


def taints(slice_: ResourceSlice) -> dict[str, list[str]]:
    return {device.name: [taint.value for taint in device.taints] for device in slice_.spec.devices}


TWO = slice_of(device("d0", taints=[{"key": KEY, "value": "own", "effect": "NoSchedule"}]), device("d1"))


@pytest.mark.parametrize(
    ("selector", "devices"),
    [
        ({}, ["d0", "d1"]),
        ({"driver": DRIVER}, ["d0", "d1"]),
        ({"driver": "other"}, []),
        ({"pool": "pool"}, ["d0", "d1"]),
        ({"pool": "other"}, []),
        ({"device": "d1"}, ["d1"]),
        ({"driver": DRIVER, "pool": "pool", "device": "d0"}, ["d0"]),
        ({"driver": DRIVER, "pool": "other", "device": "d0"}, []),
    ],
)
def test_a_rule_taints_the_devices_that_match_all_of_its_selector(selector: dict[str, str], devices: list[str]) -> None:
    result = taints(tainted(TWO, [rule(**selector)]))

    assert [name for name, values in result.items() if "rule" in values] == devices


def test_the_taints_of_rules_follow_those_of_the_device() -> None:
    assert taints(tainted(TWO, [rule("a"), rule("b", device="d0")])) == {"d0": ["own", "a", "b"], "d1": ["a"]}


def test_a_slice_that_no_rule_selects_stays_the_same_object() -> None:
    assert tainted(TWO, [rule(driver="other"), rule(device="d9")]) is TWO


def test_only_slices_that_changed_or_whose_rules_changed_are_computed_again() -> None:
    first, second = slice_of(device("d0"), pool="a"), slice_of(device("d0"), pool="b")
    slices, index = [first, second], TaintedSlices()
    all_rules = [rule("all"), rule("b", pool="b")]

    assert index.with_taints(slices, []) is slices
    before = index.with_taints(slices, all_rules)
    assert index.with_taints(slices, all_rules) is before
    after = index.with_taints(slices, all_rules[:1])
    assert after[0] is before[0]
    assert taints(after[1]) == {"d0": ["all"]}


def test_a_change_of_rules_names_the_slices_whose_taints_differ() -> None:
    first, second = slice_of(device("d0"), pool="a"), slice_of(device("d0"), pool="b")

    changed = changed_slices([first, second], [rule(pool="a")], [rule(pool="b")])
    assert [(taints(old), taints(new)) for old, new in changed] == [({"d0": ["rule"]}, {"d0": []}), ({"d0": []}, {"d0": ["rule"]})]
    assert list(changed_slices([first], [], [rule(pool="b")])) == []


def test_the_same_time_in_another_zone_changes_nothing() -> None:
    utc, cet, later = (rule(time=text) for text in ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:01Z"))

    assert list(changed_slices([TWO], [utc], [cet])) == []
    assert len(list(changed_slices([TWO], [utc], [later]))) == 1


# Sessions.


def gpu_objects(*, tolerates: bool = False) -> list[dict[str, Any]]:
    """A node with one device, and a pod that needs it."""
    asked: dict[str, Any] = {"deviceClassName": "gpu"}
    if tolerates:
        asked["tolerations"] = [{"key": KEY, "operator": "Exists", "effect": "NoSchedule"}]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    return [
        node("n1"),
        {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        {
            "apiVersion": API,
            "kind": "ResourceSlice",
            "metadata": {"name": "n1-gpu"},
            "spec": {"driver": DRIVER, "nodeName": "n1", "pool": pool, "devices": [{"name": "d0"}]},
        },
        {
            "apiVersion": API,
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "namespace": "default", "uid": "c"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": asked}]}},
        },
        pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}]),
    ]


def session(*more: dict[str, Any], gates: dict[str, bool] = GATES, tolerates: bool = False) -> Simulation:
    simulation = Simulation(SimulationSettings(release="v1.36", feature_gates=gates))
    simulation.load(objects(*gpu_objects(tolerates=tolerates), *more))
    return simulation


def placed_on(simulation: Simulation) -> str:
    pod_ = simulation.cluster.find("Pod", "default/p")
    assert pod_ is not None
    return str(pod_.spec.node_name)  # type: ignore[attr-defined]  # it is a pod


def test_a_rule_keeps_claims_off_a_device() -> None:
    simulation = session(rule_dict(driver=DRIVER))
    do(simulation, "run")
    assert placed_on(simulation) == ""

    tolerating = session(rule_dict(driver=DRIVER), tolerates=True)
    do(tolerating, "run")
    assert placed_on(tolerating) == "n1"


@pytest.mark.parametrize("selector", [{"driver": "other"}, {"device": "d9"}])
def test_a_rule_for_other_devices_has_no_effect(selector: dict[str, str]) -> None:
    simulation = session(rule_dict(**selector))
    do(simulation, "run")
    assert placed_on(simulation) == "n1"


def test_a_rule_with_the_effect_none_excludes_no_device() -> None:
    simulation = session(rule_dict(effect="None"))
    do(simulation, "run")
    assert placed_on(simulation) == "n1"


def test_without_the_feature_gate_rules_are_stored_and_not_watched() -> None:
    simulation = session(rule_dict(), gates={})
    do(simulation, "create", object=rule_dict("another"))
    events = simulation.drain_events()

    assert simulation.view().api.objects["DeviceTaintRule"] == 2
    assert "devicetaintrules" not in {event.resource for event in events if isinstance(event, WatchDelivered)}
    assert "not a kind that the scheduler watches" in do(simulation, "watch", kind="DeviceTaintRule", drop=1).error
    do(simulation, "run")
    assert placed_on(simulation) == "n1"


def causes(simulation: Simulation) -> list[str]:
    """What moved pods in the queue since the last look."""
    return [event.cause for event in simulation.drain_events() if isinstance(event, QueueMoved)]


CHANGES: dict[str, dict[str, Any]] = {
    "delete": {"kind": "DeviceTaintRule", "name": "rule", "namespace": ""},
    "update": {"object": rule_dict(driver="other")},
}


@pytest.mark.parametrize("op", CHANGES)
@pytest.mark.parametrize("restored", [False, True])
def test_a_rule_that_frees_devices_wakes_the_pods_that_wait_for_them(op: str, *, restored: bool) -> None:
    simulation = session(rule_dict(driver=DRIVER))
    do(simulation, "run")
    if restored:
        simulation = Simulation.restore(simulation.checkpoint())
    simulation.drain_events()

    do(simulation, op, **CHANGES[op])
    assert causes(simulation) == [SLICE_UPDATE]
    do(simulation, "run")
    assert placed_on(simulation) == "n1"


def test_a_rule_that_is_created_is_an_update_of_the_slices_that_it_selects() -> None:
    simulation = session(rule_dict(driver=DRIVER))
    do(simulation, "run")
    simulation.drain_events()

    do(simulation, "create", object=rule_dict("unrelated", driver="other"))
    assert causes(simulation) == []
    do(simulation, "create", object=rule_dict("another", driver=DRIVER))
    assert causes(simulation) == [SLICE_UPDATE]


def test_a_list_after_a_broken_watch_delivers_changes_of_rules() -> None:
    simulation = session(rule_dict(driver=DRIVER))
    do(simulation, "run")
    do(simulation, "watch", kind="DeviceTaintRule", disconnect=True)
    do(simulation, "delete", kind="DeviceTaintRule", name="rule", namespace="")
    simulation.drain_events()

    do(simulation, "watch", kind="DeviceTaintRule", reconnect=True)
    assert causes(simulation) == [SLICE_UPDATE]
    do(simulation, "run")
    assert placed_on(simulation) == "n1"


def test_a_running_cycle_reads_the_rules_as_they_were_when_it_began() -> None:
    simulation = session(rule_dict(driver=DRIVER))
    while not (simulation.scheduler.cycle is not None and simulation.scheduler.cycle.stage == "Filter"):
        do(simulation, "step", unit="stage")
    do(simulation, "delete", kind="DeviceTaintRule", name="rule", namespace="")
    restored = Simulation.restore(simulation.checkpoint())
    assert restored.checkpoint() == simulation.checkpoint()

    for each in (simulation, restored):
        do(each, "step", unit="cycle")
        assert placed_on(each) == ""
        do(each, "run")
        assert placed_on(each) == "n1"


def test_why_counts_the_taint_of_a_rule_and_suggests_to_tolerate_it() -> None:
    simulation = session(rule_dict(driver=DRIVER))
    do(simulation, "run")

    explanation = why_pending(simulation, "default/p")
    assert "1 has a taint that is not tolerated" in str(explanation)
    assert f"add a toleration for the device taint `{KEY}=rule:NoSchedule`" in str(smallest_change(simulation, "default/p"))


def test_the_inventory_shows_the_taints_of_rules() -> None:
    [pool] = device_inventory(session(rule_dict(driver=DRIVER))).pools
    assert [(device.taints, device.tainted) for device in pool.devices] == [((f"{KEY}=rule:NoSchedule",), True)]

    [pool] = device_inventory(session(rule_dict(driver=DRIVER), gates={})).pools
    assert not pool.devices[0].tainted
