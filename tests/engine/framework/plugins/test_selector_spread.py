"""SelectorSpread: counts by node, a third for the node and two thirds for its zone."""

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins.selectorspread.selector_spread import SelectorSpread

ZONE = "topology.kubernetes.io/zone"


def _service(world):
    world.object(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    )


def _run(world, pod):
    """The counts and the scores, and once more from a state that was in a checkpoint in between."""
    world.update()
    plugin = SelectorSpread(None, world.framework())
    rows, state = world.snapshot.rows(), CycleState()
    assert plugin.pre_score(state, pod, rows).is_success
    counts = plugin.score(state, pod, rows)
    scores = plugin.normalize_score(state, pod, counts)
    restored = CycleState.from_state(state.to_state())
    assert plugin.normalize_score(restored, pod, plugin.score(restored, pod, rows)).tolist() == scores.tolist()
    return dict(zip(rows.names, counts.tolist(), strict=True)), dict(zip(rows.names, scores.tolist(), strict=True))


def test_nodes_and_zones_with_fewer_pods_of_the_service_score_higher(world):
    _service(world)
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        world.node(name, labels={ZONE: zone})
    for name, on in (("w1", "a1"), ("w2", "a1"), ("w3", "b1")):
        world.pod(name, on=on, labels={"app": "web"})
    world.pod("other", on="a2")

    counts, scores = _run(world, world.pod("p", labels={"app": "web"}))

    assert counts == {"a1": 2, "a2": 0, "b1": 1}
    assert scores == {"a1": 0, "a2": 33, "b1": 50}


def test_without_zones_only_the_node_counts(world):
    _service(world)
    for name in ("a", "b", "c"):
        world.node(name)
    for number in range(4):
        world.pod(f"w{number}", on="a", labels={"app": "web"})
    world.pod("w4", on="b", labels={"app": "web"})

    _, scores = _run(world, world.pod("p", labels={"app": "web"}))

    assert scores == {"a": 0, "b": 75, "c": 100}


def test_terminating_pods_and_those_of_other_namespaces_do_not_count(world):
    _service(world)
    world.node("a")
    world.pod("going", on="a", labels={"app": "web"}, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})
    world.pod("elsewhere", on="a", labels={"app": "web"}, namespace="other")

    assert _run(world, world.pod("p", labels={"app": "web"})) == ({"a": 0}, {"a": 100})


def test_without_a_selecting_service_all_nodes_have_the_same_score(world):
    world.node("a")
    world.pod("w", on="a", labels={"app": "web"})

    assert _run(world, world.pod("p")) == ({"a": 0}, {"a": 100})


def test_a_pod_with_spread_constraints_gives_all_nodes_zero(world):
    _service(world)
    world.node("a")
    world.pod("w", on="a", labels={"app": "web"})
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}

    assert _run(world, world.pod("p", labels={"app": "web"}, topologySpreadConstraints=[constraint])) == ({"a": 0}, {"a": 0})


def test_score_without_pre_score_is_an_error(world):
    world.node("a")
    world.update()
    plugin = SelectorSpread(None, world.framework())

    status = plugin.score(CycleState(), world.pod("p"), world.snapshot.rows())

    assert status.message == 'reading "PreScoreSelectorSpread" from cycleState: not found'
