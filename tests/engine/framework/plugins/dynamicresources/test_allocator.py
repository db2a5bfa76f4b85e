"""The allocator: which devices the claims of a pod get on a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedviz.engine.framework.plugins.dynamicresources.structured import AllocationError, NodeAllocationError
from schedviz.engine.framework.plugins.dynamicresources.structured.search import TooLongError
from schedviz.kube.devices import ResourceClaim
from tests.engine.framework.plugins.dynamicresources.builders import (
    DRIVER,
    Devices,
    claim_for,
    class_called,
    device,
    first_of,
    node_called,
    request,
    slice_of,
    where,
)

MODEL = f"{DRIVER}/model"


def is_model(model: str) -> list[dict[str, Any]]:
    return where(f'device.attributes["{DRIVER}"].model == "{model}"')


def error_of(devices: Devices, *claims: Any) -> str:
    with pytest.raises(AllocationError) as caught:
        devices.results(*claims)
    return str(caught.value)


def test_the_first_free_devices_are_chosen_in_order() -> None:
    devices = Devices(slice_of(device("a"), device("b"), device("c"), device("d"))).take("b")

    assert devices.names(claim_for(request(count=2))) == [["r=a", "r=c"]]


def test_pools_and_slices_are_tried_in_order_of_their_names() -> None:
    second = slice_of(device("x"), name="2", pool="pool-a", count=2)
    first = slice_of(device("y"), name="1", pool="pool-a", count=2)
    devices = Devices(slice_of(device("z"), pool="pool-b"), second, first)

    assert devices.names(claim_for(request(count=3))) == [["r=y", "r=x", "r=z"]]


def test_claims_of_one_pod_get_different_devices_or_none_of_them_does() -> None:
    two = Devices(slice_of(device("a"), device("b")))

    assert two.names(claim_for(request(), name="c1"), claim_for(request(), name="c2")) == [["r=a"], ["r=b"]]
    assert two.names(claim_for(request(count=2), name="c1"), claim_for(request(), name="c2")) is None


def test_selectors_of_class_and_request_must_all_match() -> None:
    of_class = class_called("fast", selectors=where(f'"fast" in device.attributes["{DRIVER}"]'))
    devices = Devices(
        slice_of(device("a", model="A"), device("b", model="A", fast="yes"), device("c", model="B", fast="yes")), classes=[of_class]
    )

    assert devices.names(claim_for(request(deviceClassName="fast", selectors=is_model("B")))) == [["r=c"]]


def test_earlier_choices_are_undone_if_later_requests_need_their_devices() -> None:
    devices = Devices(slice_of(device("a", model="A"), device("b", model="B")))

    assert devices.names(claim_for(request("any"), request("a", selectors=is_model("A")))) == [["any=b", "a=a"]]


def test_all_matching_devices_are_allocated_or_none() -> None:
    devices = Devices(slice_of(device("a", model="A"), device("b", model="B"), device("c", model="A")))
    every = claim_for(request(allocationMode="All", selectors=is_model("A")))

    assert devices.names(every) == [["r=a", "r=c"]]
    assert devices.take("c").names(every) is None
    assert devices.names(claim_for(request(allocationMode="All", selectors=is_model("C")))) is None


def test_the_first_alternative_that_is_available_is_taken() -> None:
    large, small = {"name": "large", "selectors": is_model("L")}, {"name": "small", "selectors": is_model("S"), "count": 2}
    devices = Devices(slice_of(device("l", model="L"), device("s1", model="S"), device("s2", model="S")))

    assert devices.names(claim_for(first_of(large, small))) == [["r/large=l"]]
    assert devices.take("l").names(claim_for(first_of(large, small))) == [["r/small=s1", "r/small=s2"]]


def test_devices_match_in_an_attribute() -> None:
    devices = Devices(slice_of(device("a", model="A"), device("b", model="B"), device("none"), device("c", model="B")))

    assert devices.names(claim_for(request(count=2), constraints=[{"matchAttribute": MODEL}])) == [["r=b", "r=c"]]


def test_devices_of_requests_differ_in_an_attribute() -> None:
    devices = Devices(slice_of(device("a", model="A"), device("b", model="A"), device("c", model="B")))
    differ = [{"distinctAttribute": MODEL, "requests": ["r1", "r2"]}]

    assert devices.names(claim_for(request("r1"), request("r2"), constraints=differ)) == [["r1=a", "r2=c"]]


def test_lists_of_values_match_in_one_of_them() -> None:
    several = [
        {"name": name, "attributes": {"zone": {"strings": zones}}} for name, zones in (("a", ["x"]), ("b", ["y"]), ("c", ["z", "y"]))
    ]
    devices = Devices(slice_of(*several), list_type_attributes=True)

    assert devices.names(claim_for(request(count=2), constraints=[{"matchAttribute": f"{DRIVER}/zone"}])) == [["r=b", "r=c"]]


def test_admin_access_is_given_to_devices_in_use() -> None:
    devices = Devices(slice_of(device("a"), device("b"))).take("a", "b")

    results = devices.results(claim_for(request(allocationMode="All", adminAccess=True)))

    assert results is not None
    assert [(result.device, result.admin_access) for result in results[0].devices.results] == [("a", True), ("b", True)]
    assert devices.names(claim_for(request())) is None


def test_a_tainted_device_is_left_to_requests_that_tolerate_it() -> None:
    taint = {"key": "broken", "effect": "NoSchedule"}
    devices = Devices(slice_of(device("a", taints=[taint]), device("b", taints=[{"key": "old", "effect": "None"}])))

    assert devices.names(claim_for(request())) == [["r=b"]]
    assert devices.names(claim_for(request(tolerations=[{"key": "broken", "operator": "Exists"}]))) == [["r=a"]]


def test_partitions_share_the_counters_of_their_device() -> None:
    def part(name: str, memory: str) -> dict[str, Any]:
        return device(name, consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": memory}}}])

    counters = slice_of(name="counters", count=2, sharedCounters=[{"name": "card", "counters": {"memory": {"value": "80Gi"}}}])
    devices = Devices(counters, slice_of(part("large", "60Gi"), part("half", "40Gi"), part("other-half", "40Gi"), name="devices", count=2))

    assert devices.names(claim_for(request(count=2))) == [["r=half", "r=other-half"]]
    assert devices.take("half").names(claim_for(request())) == [["r=other-half"]]
    assert devices.names(claim_for(request(count=2))) is None


def test_a_shared_device_gives_each_claim_the_capacity_that_it_requests() -> None:
    policy = {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi", "max": "40Gi"}}
    shared = device("a", allowMultipleAllocations=True, capacity={"memory": {"value": "50Gi", "requestPolicy": policy}})
    devices = Devices(slice_of(shared))

    def asking(memory: str, name: str = "c") -> Any:
        return claim_for(request(capacity={"requests": {"memory": memory}}), name=name)

    results = devices.results(asking("15Gi", "c1"), claim_for(request(), name="c2"))

    assert results is not None
    assert [str(result.devices.results[0].consumed_capacity["memory"]) for result in results] == ["20Gi", "10Gi"]
    assert len({result.devices.results[0].share_id for result in results}) == 2
    assert devices.names(asking("41Gi")) is None
    assert devices.names(asking("30Gi", "c1"), asking("30Gi", "c2")) is None


def test_devices_with_binding_conditions_come_last_and_carry_their_conditions() -> None:
    attached = device("a", bindingConditions=["Attached"], bindingFailureConditions=["Lost"])
    devices = Devices(slice_of(attached, pool="1"), slice_of(device("b"), pool="2"))

    results = devices.results(claim_for(request(count=2)))

    assert results is not None
    assert [(result.device, result.binding_conditions) for result in results[0].devices.results] == [("b", ()), ("a", ("Attached",))]


@pytest.mark.parametrize(
    ("spec", "selector"),
    [
        ({"allNodes": True}, None),
        ({}, ("metadata.name", ("n1",))),
        (
            {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}]}},
            ("zone", ("z",)),
        ),
    ],
)
def test_an_allocation_has_a_selector_of_the_nodes_that_can_use_it(spec: dict[str, Any], selector: Any) -> None:
    results = Devices(slice_of(device("a"), **spec)).results(claim_for(request()), node=node_called("n1", zone="z"))

    assert results is not None
    chosen = results[0].node_selector
    if selector is None:
        assert chosen is None
    else:
        assert chosen is not None
        term = chosen.node_selector_terms[0]
        assert [(each.key, each.values) for each in (*term.match_fields, *term.match_expressions)] == [selector]


def test_devices_for_single_nodes_are_available_only_to_those_nodes() -> None:
    devices = Devices(slice_of(device("a", nodeName="n2"), device("b", nodeName="n1"), perDeviceNodeSelection=True))

    assert devices.names(claim_for(request())) == [["r=b"]]
    assert devices.names(claim_for(request()), node=node_called("n2")) == [["r=a"]]
    assert devices.names(claim_for(request()), node=node_called("n3")) is None


def test_an_incomplete_pool_has_no_devices_and_ends_requests_for_all() -> None:
    devices = Devices(slice_of(device("a"), count=2))

    assert devices.names(claim_for(request())) is None
    assert error_of(devices, claim_for(request(allocationMode="All"))) == (
        f"claim default/c, request r: asks for all devices, but resource pool {DRIVER}/pool is currently being updated"
    )


def test_slices_of_an_older_generation_are_ignored() -> None:
    devices = Devices(slice_of(device("old"), name="1", generation=1), slice_of(device("new"), name="2", generation=2))

    assert devices.names(claim_for(request())) == [["r=new"]]


def test_a_pool_with_two_devices_of_one_name_is_invalid() -> None:
    devices = Devices(slice_of(device("a"), name="1", count=2), slice_of(device("a"), name="2", count=2))

    with pytest.raises(NodeAllocationError, match="invalid resource pools were encountered"):
        devices.results(claim_for(request()))


def test_errors_name_the_claim_and_the_request() -> None:
    devices = Devices(slice_of(device("a", model="A"), device("b", model="B")))

    assert error_of(devices, claim_for(request(count=33))) == (
        "claim default/c: number of requested devices 33 exceeds the claim limit of 32"
    )
    assert error_of(devices, claim_for(request(deviceClassName="nosuch"))).startswith(
        "claim default/c, request r: could not retrieve device class nosuch"
    )
    assert error_of(devices, claim_for(request(selectors=where("device.nosuch")))) == (
        "claim default/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:7: undefined field 'nosuch'\n"
        " | device.nosuch\n | ......^"
    )
    assert error_of(devices, claim_for(request(selectors=where("device.driver")))) == (
        "claim default/c: selector #0: CEL compile error: must evaluate to bool or the unknown type, not string"
    )
    assert error_of(devices, claim_for(request(selectors=where(f'device.attributes["{DRIVER}"].nosuch == 1')))) == (
        "claim default/c: selector #0: CEL runtime error: no such key: nosuch"
    )
    every = claim_for(request(allocationMode="All"), constraints=[{"matchAttribute": MODEL}])
    assert error_of(devices, every) == (
        f"claim default/c, request r: cannot add device {DRIVER}/pool/b because a claim constraint would not be satisfied"
    )


def nested_loops(levels: int) -> str:
    """9 ** levels evaluations, in some hundred characters."""
    result = "true"
    for level in range(levels):
        result = f"[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x{level}, {result})"
    return result


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("true".ljust(10_241), "CEL compile error: compilation failed: Too long: may not be more than 10240 bytes"),
        ("true &&", "CEL compile error: compilation failed: ERROR: <input>:1:8: Syntax error"),
    ],
    ids=["too long", "incomplete"],
)
def test_selectors_that_no_api_server_accepts_end_with_an_error(expression: str, message: str) -> None:
    """Web servers may accept them unchecked (`SelectorChecks`), and files may have them."""
    devices = Devices(slice_of(device("a")))
    for selectors in (where(expression), [*where("true"), *where(expression)]):
        assert message in error_of(devices, claim_for(request(selectors=selectors)))


@pytest.mark.slow
def test_an_exponential_selector_ends_the_search_and_has_a_limited_cost() -> None:
    claim = claim_for(request(selectors=where(nested_loops(40))))
    devices = Devices(slice_of(device("a")))
    with pytest.raises(TooLongError):
        devices.results(claim)
    devices.max_steps = 10**9
    assert error_of(devices, claim) == "claim default/c: selector #0: CEL runtime error: operation cancelled: actual cost limit exceeded"


def test_a_search_ends_after_its_maximum_number_of_steps() -> None:
    devices = Devices(slice_of(*(device(f"d{number}", model="A") for number in range(16))))
    devices.max_steps = 1000
    impossible = claim_for(request("r1", count=4), request("r2", count=4), request("r3", selectors=is_model("B")))

    with pytest.raises(TooLongError):
        devices.results(impossible)


IMPOSSIBLE = request("never", selectors=where("false"))


def with_counters() -> tuple[Devices, ResourceClaim]:
    amounts = {f"c{number}": {"value": "1"} for number in range(200)}
    consumers = [device(f"d{number}", consumesCounters=[{"counterSet": "s", "counters": amounts}]) for number in range(40)]
    shared = slice_of(name="b", count=2, sharedCounters=[{"name": "s", "counters": {name: {"value": "1000"} for name in amounts}}])
    return Devices(slice_of(*consumers, name="a", count=2), shared), claim_for(request(count=16), IMPOSSIBLE)


def with_capacities() -> tuple[Devices, ResourceClaim]:
    capacity = {f"m{number}": {"value": "10"} for number in range(200)}
    shared = [device(f"d{number}", allowMultipleAllocations=True, capacity=capacity) for number in range(40)]
    return Devices(slice_of(*shared)), claim_for(request(count=16, capacity={"requests": dict.fromkeys(capacity, "1")}), IMPOSSIBLE)


def with_constraints() -> tuple[Devices, ResourceClaim]:
    devices = Devices(slice_of(*(device(f"d{number}", model="A") for number in range(40))))
    return devices, claim_for(request(count=16), IMPOSSIBLE, constraints=[{"matchAttribute": MODEL}] * 200)


def with_tolerations() -> tuple[Devices, ResourceClaim]:
    keys = [f"k{number}" for number in range(40)]
    tainted = [device(f"d{number}", taints=[{"key": key, "effect": "NoSchedule"} for key in keys]) for number in range(40)]
    return Devices(slice_of(*tainted)), claim_for(
        request(count=16, tolerations=[{"key": key, "operator": "Exists"} for key in keys]), IMPOSSIBLE
    )


def with_selectors() -> tuple[Devices, ResourceClaim]:
    devices = Devices(slice_of(*(device(f"d{number}", allowMultipleAllocations=True) for number in range(40))))
    return devices, claim_for(request(count=16, selectors=where("true") * 1000), IMPOSSIBLE)


def with_expensive_selectors() -> tuple[Devices, ResourceClaim]:
    devices = Devices(slice_of(*(device(f"d{number}") for number in range(40))))
    return devices, claim_for(request(selectors=where("lists.range(400).map(i, i).size() == 1")))


def with_long_selectors() -> tuple[Devices, ResourceClaim]:
    long = [each for number in range(40) for each in where(f"true || {' || '.join(['false'] * 1000)} || {number} == 0")]
    return Devices(slice_of(device("a"))), claim_for(request(selectors=long))


@pytest.mark.parametrize(
    "case",
    [
        with_counters,
        with_capacities,
        with_constraints,
        with_tolerations,
        with_selectors,
        with_expensive_selectors,
        with_long_selectors,
    ],
)
def test_everything_that_grows_with_an_object_counts_as_steps(case: Callable[[], tuple[Devices, ResourceClaim]]) -> None:
    devices, claim = case()
    devices.max_steps = 4000

    allocator = devices.allocator()
    finder = allocator.for_claims([claim])
    with pytest.raises(TooLongError):
        finder.find(node_called("n1"))


def test_all_searches_for_a_pod_share_their_time() -> None:
    slices = [slice_of(*(device(f"d{number}") for number in range(12)), name=name, pool=name, nodeName=name) for name in ("n1", "n2", "n3")]
    devices = Devices(*slices)
    devices.max_steps = 4000
    finder = devices.allocator().for_claims([claim_for(request(count=4), IMPOSSIBLE)])

    assert [finder.find(node_called(name)) for name in ("n1", "n2")] == [None, None]
    with pytest.raises(TooLongError):
        list(map(finder.find, [node_called("n3")] * 20))
    assert devices.allocator().for_claims([claim_for(request(count=4), IMPOSSIBLE)]).find(node_called("n3")) is None


def test_a_step_of_zero_in_a_request_policy_counts_as_no_step() -> None:
    policy = {"default": "1", "validRange": {"min": "1", "step": "0"}}
    shared = device("a", allowMultipleAllocations=True, capacity={"m": {"value": "10", "requestPolicy": policy}})
    devices = Devices(slice_of(shared))

    assert devices.names(claim_for(request(capacity={"requests": {"m": "3"}}))) == [["r=a"]]


def test_pools_with_missing_slices_have_no_devices() -> None:
    slices = [slice_of(device("d"), name=f"s{number}", pool=f"p{number}", count=2, allNodes=True) for number in range(2000)]
    devices = Devices(*slices, slice_of(device("z"), name="whole", pool="whole", allNodes=True))
    finder = devices.allocator().for_claims([claim_for(request())])

    # Searching the slices of all pools for each pool on each node would take minutes.
    results = [finder.find(node_called(f"n{number}")) for number in range(60)]
    assert [each is not None and each[0][0].device.device.name for each in results] == ["z"] * 60


def test_an_invalid_node_selector_of_a_device_ends_the_cycle_with_an_error() -> None:
    faulty = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Near"}]}]}
    devices = Devices(slice_of(device("a", nodeSelector=faulty), perDeviceNodeSelection=True))

    message = error_of(devices, claim_for(request()))

    assert message.startswith(
        "gather pool information: failed to perform node selection for device a in slice pool: "
        "failed to parse node selector &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{"
    )
    assert message.endswith(
        '},}: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": '
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )


def test_without_the_gates_of_newer_features_the_stable_allocator_is_used() -> None:
    gates = {"consumable_capacity": False, "device_binding_and_status": False}
    shared = device("a", allowMultipleAllocations=True, bindsToNode=True, capacity={"memory": {"value": "1"}})
    devices = Devices(slice_of(shared, nodeName=None, allNodes=True), **gates)
    capacity = {"capacity": {"requests": {"memory": "5"}}}

    # It ignores requested capacity, multiple allocations and devices that bind to a node,
    assert devices.names(claim_for(request(**capacity))) == [["r=a"]]
    assert devices.names(claim_for(request(selectors=where("device.allowMultipleAllocations")))) is None
    results = devices.results(claim_for(request()))
    assert results is not None
    assert results[0].node_selector is None
    # and knows no distinct attributes.
    claim = claim_for(request(), constraints=[{"distinctAttribute": MODEL}])
    assert error_of(devices, claim) == "claim default/c, constraint #0: empty constraint (unsupported constraint type?)"
