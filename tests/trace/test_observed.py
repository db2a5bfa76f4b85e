"""A view in the format of a schedviz-trace/1 file."""

from schedviz.trace import observed
from schedviz.trace.view import CacheImage, CacheView, ImageState, NodeItem, NodeTree, PodState, QueuedPod, QueueView, Resources, View


def test_the_cache_state_has_all_members() -> None:
    cache = CacheView(
        list=[
            NodeItem(
                name="n1",
                generation=3,
                has_node=True,
                pod_order=["default/b", "default/a"],
                allocatable=Resources(milli_cpu=4000, scalar={"example.com/gpu": 1}),
                used_ports={"0.0.0.0": ["TCP/80"]},
                image_states={"nginx": ImageState(size=5, num_nodes=2)},
                pvc_ref_counts={"default/data": 1},
            )
        ],
        assumed_pods=["b", "a"],
        pod_states={"a": PodState(pod="default/a", node="n1", assumed=True)},
        node_tree=NodeTree(num_nodes=1, zones=[""], tree={"": ["n1"]}),
        image_states={"nginx": CacheImage(size=5, nodes=["n1"])},
    )
    nothing = {"milliCPU": 0, "memory": 0, "ephemeralStorage": 0, "allowedPodNumber": 0, "scalar": {}}

    assert observed.cache_state(cache) == {
        "list": [
            {
                "name": "n1",
                "generation": 3,
                "hasNode": True,
                "pods": ["default/a", "default/b"],
                "podOrder": ["default/b", "default/a"],
                "podsWithAffinity": [],
                "podsWithRequiredAntiAffinity": [],
                "requested": nothing,
                "nonZeroRequested": nothing,
                "allocatable": nothing | {"milliCPU": 4000, "scalar": {"example.com/gpu": 1}},
                "usedPorts": {"0.0.0.0": ["TCP/80"]},
                "imageStates": {"nginx": {"size": 5, "numNodes": 2}},
                "pvcRefCounts": {"default/data": 1},
            }
        ],
        "assumedPods": ["a", "b"],
        "podStates": {"a": {"pod": "default/a", "node": "n1", "assumed": True, "bindingFinished": False, "deadlineSeconds": None}},
        "nodeTree": {"numNodes": 1, "zones": [""], "tree": {"": ["n1"]}},
        "imageStates": {"nginx": {"size": 5, "nodes": ["n1"]}},
    }


def test_queues_are_in_pop_order_and_unschedulable_pods_sorted_by_name() -> None:
    queue = QueueView(
        active_q=[
            QueuedPod(pod="default/first", priority=9),
            QueuedPod(pod="default/last", priority=1),
            QueuedPod(pod="default/mid", priority=5),
        ],
        backoff_q=[QueuedPod(pod="default/slow", backoff_expiry_seconds=1.0), QueuedPod(pod="default/slower", backoff_expiry_seconds=2.0)],
        unschedulable=[QueuedPod(pod="default/z"), QueuedPod(pod="default/a")],
    )
    state = observed.queue_state(queue)

    assert [pod["pod"] for pod in state["activeQ"]] == ["default/first", "default/mid", "default/last"]
    assert [pod["pod"] for pod in state["backoffQ"]] == ["default/slow", "default/slower"]
    assert [pod["pod"] for pod in state["unschedulable"]] == ["default/a", "default/z"]
    assert "backoffExpirySeconds" not in state["activeQ"][0]
    assert state["backoffQ"][0]["backoffExpirySeconds"] == 1.0
    assert state["moveRequestCycle"] == -1


def test_a_view_has_three_parts() -> None:
    assert observed.state(View()).keys() == {"cache", "snapshot", "queue"}
