"""v1.14's cache: the effect of each call in each of the five states, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings, run_trace
from schedviz.engine.cache import CacheError, SchedulerExitError
from schedviz.engine.framework.types import NANOS_PER_SECOND, Generations
from schedviz.engine.invariants import validate_cache
from schedviz.engine.legacy.cache import CacheV114
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod
from schedviz.trace.events import AnyEvent, CacheCall, CachePod
from schedviz.trace.policies import Policies
from schedviz.trace.recorder import Recorder
from tests.engine.clusters import do, node, objects, pod

AFTER_ALL = 10_000 * NANOS_PER_SECOND


def a_node(name: str) -> Node:
    made = codec.from_dict({"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}})
    assert isinstance(made, Node)
    return made


def a_pod(on: str = "a", uid: str = "u1", **metadata: Any) -> Pod:
    made = codec.from_dict({"kind": "Pod", "metadata": {"name": "p", "uid": uid, **metadata}, "spec": {"nodeName": on, "containers": []}})
    assert isinstance(made, Pod)
    return made


@pytest.fixture
def cache() -> CacheV114:
    made = CacheV114(Recorder(), Generations(), ttl_seconds=30)
    made.add_node(a_node("a"))
    made.add_node(a_node("b"))
    return made


def calls(cache: CacheV114) -> list[tuple[str, str, str, str]]:
    return [(call.call, call.source, call.target, call.error) for call in cache._recorder.drain() if isinstance(call, CacheCall)]


def expire(cache: CacheV114) -> None:
    cache.finish_binding(a_pod(), 0)
    cache.cleanup_assumed_pods(AFTER_ALL)


INTO: dict[str, Callable[[CacheV114], None]] = {
    "Initial": lambda cache: None,
    "Assumed": lambda cache: cache.assume_pod(a_pod()),
    "Added": lambda cache: cache.add_pod(a_pod()),
    "Expired": lambda cache: (cache.assume_pod(a_pod()), expire(cache))[1],
    "Deleted": lambda cache: (cache.add_pod(a_pod()), cache.remove_pod(a_pod()))[1],
}
CALLS: dict[str, Callable[[CacheV114], None]] = {
    "AssumePod": lambda cache: cache.assume_pod(a_pod()),
    "FinishBinding": lambda cache: cache.finish_binding(a_pod(), 0),
    "ForgetPod": lambda cache: cache.forget_pod(a_pod()),
    "AddPod": lambda cache: cache.add_pod(a_pod()),
    "UpdatePod": lambda cache: cache.update_pod(a_pod(), a_pod()),
    "RemovePod": lambda cache: cache.remove_pod(a_pod()),
}
IN_CACHE = "pod u1 is in the cache, so can't be assumed"
NOT_ASSUMED = "pod u1 wasn't assumed so cannot be forgotten"
ALREADY_ADDED = "pod u1 was already in added state"
NOT_ADDED = "pod u1 is not added to scheduler cache, so cannot be updated"
NOT_FOUND = "pod u1 is not found in scheduler cache, so cannot be removed from it"

#: call -> state -> the state afterwards, or the error.
TABLE = {
    "AssumePod": {"Initial": "Assumed", "Assumed": IN_CACHE, "Added": IN_CACHE, "Expired": "Assumed", "Deleted": "Assumed"},
    "FinishBinding": {state: state for state in INTO},
    "ForgetPod": dict.fromkeys(INTO, NOT_ASSUMED) | {"Assumed": "Initial"},
    "AddPod": dict.fromkeys(INTO, "Added") | {"Added": ALREADY_ADDED},
    "UpdatePod": dict.fromkeys(INTO, NOT_ADDED) | {"Added": "Added"},
    "RemovePod": dict.fromkeys(INTO, NOT_FOUND) | {"Added": "Deleted"},
}


@pytest.mark.parametrize("state", INTO)
@pytest.mark.parametrize("call", CALLS)
def test_each_call_follows_the_state_machine_in_each_state(cache: CacheV114, call: str, state: str) -> None:
    INTO[state](cache)
    assert cache.state_of("u1") == state
    calls(cache)
    expected = TABLE[call][state]
    error = "" if expected in INTO else expected

    if error:
        with pytest.raises(CacheError) as raised:
            CALLS[call](cache)
        assert str(raised.value) == error
    else:
        CALLS[call](cache)

    target = state if error else expected
    assert cache.state_of("u1") == target
    assert calls(cache) == [(call, state, target, error)]
    validate_cache(cache)


def test_an_assumed_pod_expires_30_seconds_after_its_binding_finished(cache: CacheV114) -> None:
    cache.assume_pod(a_pod())
    assert cache.cleanup_assumed_pods(AFTER_ALL) == []  # Its binding has not finished.

    cache.finish_binding(a_pod(), 100 * NANOS_PER_SECOND)
    assert cache.cleanup_assumed_pods(130 * NANOS_PER_SECOND) == []
    assert [gone.uid for gone in cache.cleanup_assumed_pods(130 * NANOS_PER_SECOND + 1)] == ["u1"]
    assert calls(cache)[-1] == ("ExpirePod", "Assumed", "Expired", "")


def test_a_confirmation_on_the_assumed_node_leaves_the_node_unchanged(cache: CacheV114) -> None:
    cache.assume_pod(a_pod())
    info = cache.nodes.get("a")
    assert info is not None
    generation, assumed = info.generation, info.pods[0].pod

    cache.add_pod(a_pod(labels={"seen": "later"}))

    assert info.generation == generation
    assert info.pods[0].pod is assumed
    assert cache.get_pod(a_pod()).metadata.labels == {"seen": "later"}


def test_a_confirmation_on_another_node_moves_the_pod(cache: CacheV114) -> None:
    cache.assume_pod(a_pod())

    cache.add_pod(a_pod("b"))

    assert {info.name: len(info.pods) for info in cache.nodes} == {"a": 0, "b": 1}
    assert cache.state_of("u1") == "Added"


def test_a_pod_is_forgotten_only_from_its_own_node(cache: CacheV114) -> None:
    cache.assume_pod(a_pod())

    with pytest.raises(CacheError, match="pod u1 was assumed on b but assigned to a"):
        cache.forget_pod(a_pod("b"))


@pytest.mark.parametrize(
    "call", [lambda cache: cache.update_pod(a_pod(), a_pod("b")), lambda cache: cache.remove_pod(a_pod("b"))], ids=["update", "remove"]
)
def test_a_pod_that_changes_its_node_ends_the_process(cache: CacheV114, call: Callable[[CacheV114], None]) -> None:
    cache.add_pod(a_pod())

    with pytest.raises(SchedulerExitError, match="Schedulercache is corrupted and can badly affect scheduling decisions"):
        call(cache)


def test_a_pod_without_a_uid_has_no_key(cache: CacheV114) -> None:
    with pytest.raises(CacheError, match="Cannot get cache key for pod with empty UID"):
        cache.assume_pod(a_pod(uid=""))


# In a session.


def session(**policies: Any) -> Simulation:
    simulation = Simulation(SimulationSettings(policies=Policies(cache="v1.14", **policies)))
    simulation.load(objects(node("node1"), pod("p")))
    return simulation


def path(events: list[AnyEvent]) -> list[tuple[str, str]]:
    return [(event.call, event.target) for event in events if isinstance(event, CacheCall)]


def test_a_pods_path_through_the_states_is_recorded() -> None:
    simulation = session()

    do(simulation, "cycle")
    do(simulation, "delete", kind="Pod", namespace="default", name="p")

    assert path(simulation.drain_events()) == [
        ("AssumePod", "Assumed"),
        ("FinishBinding", "Assumed"),
        ("AddPod", "Added"),
        ("RemovePod", "Deleted"),
    ]


@pytest.mark.parametrize(
    ("policies", "expired_after"), [({}, 31), ({"assumed_pod_ttl_seconds": 900}, 901), ({"assumed_pod_ttl_seconds": 0}, None)]
)
def test_assumed_pods_expire_by_the_policies(policies: dict[str, Any], expired_after: float | None) -> None:
    simulation = session(**policies)
    do(simulation, "schedule")
    do(simulation, "bind", pod="default/p")  # Its confirmation is delayed.
    calls = path(simulation.drain_events())
    assert calls == [("AssumePod", "Assumed"), ("FinishBinding", "Assumed")]

    do(simulation, "advance", seconds=(expired_after or 100_000) - 2)
    assert path(simulation.drain_events()) == []
    do(simulation, "advance", seconds=3)
    assert path(simulation.drain_events()) == ([("ExpirePod", "Expired")] if expired_after else [])
    do(simulation, "confirm", pod="default/p")
    assert path(simulation.drain_events()) == [("AddPod", "Added")]


def test_a_restored_engine_continues_identically() -> None:
    simulation = session()
    do(simulation, "schedule")
    do(simulation, "bind", pod="default/p")
    do(simulation, "advance", seconds=40)
    again = Simulation.restore(simulation.checkpoint())
    simulation.drain_events()
    assert again.checkpoint() == simulation.checkpoint()

    for each in (simulation, again):
        do(each, "confirm", pod="default/p")

    assert again.drain_events() == (events := simulation.drain_events())
    assert [(event.source, event.target) for event in events if isinstance(event, CacheCall)] == [("Expired", "Added")]
    assert again.state_hash() == simulation.state_hash()


def test_without_the_policy_no_path_is_recorded() -> None:
    simulation = Simulation(SimulationSettings())
    simulation.load(objects(node("node1"), pod("p")))
    do(simulation, "cycle")

    events = simulation.drain_events()
    assert any(isinstance(event, CachePod) for event in events)
    assert path(events) == []


def test_a_trace_file_names_policies_in_its_header() -> None:
    steps = [
        {"op": "create", "object": node("node1")},
        {"op": "create", "object": pod("p")},
        {"op": "schedule"},
        {"op": "bind", "pod": "*"},
    ]
    header = {"format": "schedviz-trace/1", "policies": {"cache": "v1.14"}}

    done = run_trace(trace_from_dict({**header, "steps": [*steps, {"op": "advance", "seconds": 29}, {"op": "advance", "seconds": 2}]}))

    assert [len(step["observed"]["cache"]["podStates"]) for step in done["steps"]] == [0, 0, 1, 1, 1, 0]
    assert done["policies"] == {"cache": "v1.14"}
