"""Each broken invariant is found and reported."""

import pytest

from schedviz.engine.cache import Cache, Snapshot
from schedviz.engine.framework.types import Generations, PodInfo, QueuedPodInfo
from schedviz.engine.invariants import InvariantError, validate_state
from schedviz.engine.queue.v1_27 import PriorityQueue
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod
from schedviz.trace.recorder import Recorder
from tests.engine.clusters import do_unchecked, four_nodes, node, pod


class World:
    """Two nodes, an assumed pod, a pending pod, and a snapshot of them."""

    def __init__(self) -> None:
        recorder = Recorder()
        self.cache = Cache(recorder, Generations())
        self.snapshot = Snapshot()
        self.queue = PriorityQueue(
            recorder,
            now=lambda: 0,
            less=lambda first, second: first.pod_info.priority > second.pod_info.priority,
            find_gating_plugin=lambda _: None,
            cluster_event_map={},
            pod_lister=lambda _namespace, _name: None,
            namespace_labels=lambda _: {},
        )
        for name in ("a", "b"):
            node = codec.from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
            assert isinstance(node, Node)
            self.cache.add_node(node)
        self.cache.assume_pod(self.pod("p", node="a"))
        self.queue.add(self.pod("low"))
        self.queue.add(self.pod("high", priority=5))
        self.cache.update_snapshot(self.snapshot)

    def pod(self, name: str, *, node: str = "", priority: int = 0) -> PodInfo:
        spec = {"nodeName": node, "priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
        pod = codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "d", "uid": name}, "spec": spec})
        assert isinstance(pod, Pod)
        return PodInfo(pod)

    def breach(self) -> str:
        with pytest.raises(InvariantError) as caught:
            validate_state(self.cache, self.snapshot, self.queue)
        return caught.value.what


@pytest.fixture
def world() -> World:
    world = World()
    validate_state(world.cache, world.snapshot, world.queue)
    return world


def test_the_list_is_in_order_of_generation(world: World) -> None:
    info = world.cache.nodes.get("b")
    assert info is not None
    info.generation = 100
    assert world.breach() == "b: generation 100 is not below its prev's"


def test_prev_of_an_item_is_the_item_before_it(world: World) -> None:
    world.cache.nodes.items["b"].prev = None
    assert world.breach() == "b: prev is not the item before it"


def test_assumed_pods_are_in_pod_states(world: World) -> None:
    world.cache.assumed_pods.add("x")
    assert world.breach() == "x: is assumed and not in podStates"


def test_sums_match_pods(world: World) -> None:
    info = world.cache.nodes.get("a")
    assert info is not None
    info.requested.milli_cpu = 7
    assert world.breach() == "a: requested.milli_cpu is 7, its pods make 1000"


def test_the_tree_has_the_nodes(world: World) -> None:
    world.cache.node_tree.num_nodes = 5
    assert world.breach() == "node tree: numNodes is 5, there are 2"


def test_the_snapshot_equals_the_cache_at_the_same_generation(world: World) -> None:
    world.snapshot.get("a").pods.clear()
    assert world.breach().startswith("a: the snapshot's NodeInfo differs")


def test_columns_equal_node_infos(world: World) -> None:
    world.cache.assume_pod(world.pod("q", node="b"))
    world.snapshot.rows().requested("cpu")
    world.snapshot.get("b").requested.milli_cpu = 3
    assert world.breach() == "columns: requested cpu is not what the NodeInfos have"


def test_no_pod_in_a_heap_orders_before_its_parent(world: World) -> None:
    low = world.queue.active_q.get("d/low")
    high = world.queue.active_q.get("d/high")
    assert low is not None
    assert high is not None
    world.queue.active_q.load([low, high])
    assert world.breach() == "d/high: is before its parent in activeQ"


def test_a_pod_is_in_one_queue(world: World) -> None:
    world.queue.unschedulable_pods.add_or_update(QueuedPodInfo(world.pod("low"), timestamp=0))
    assert world.breach() == "d/low: is in 2 of the three queues"


def test_a_violation_has_the_history_of_its_object(world: World) -> None:
    world.cache.assumed_pods.add("x")

    with pytest.raises(InvariantError) as caught:
        validate_state(world.cache, world.snapshot, world.queue, story=lambda subject: [f"1: {subject} was assumed"])

    assert str(caught.value) == "x: is assumed and not in podStates\n  1: x was assumed"


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
def test_a_node_with_pods_that_no_handler_saw_return_is_not_in_the_tree_as_upstream(release):
    simulation = four_nodes(pod("a", node_name="node1"), release=release)
    do_unchecked(simulation, "delete", kind="Node", name="node1")
    do_unchecked(simulation, "create", object=node("node1"), drop="handlers")
    do_unchecked(simulation, "update", object=node("node1", cpu="2"))
    state = simulation.scheduler.state

    with pytest.raises(InvariantError, match="node tree: its nodes are not the cache's"):
        validate_state(state.cache, state.snapshot, state.queue)
    validate_state(state.cache, state.snapshot, state.queue, nodes_seen=False)
