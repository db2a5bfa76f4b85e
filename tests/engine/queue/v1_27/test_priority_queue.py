"""Which queue pods are in, and when they move."""

from typing import Any

import msgspec
import pytest

from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.types import GVK, NANOS_PER_SECOND, ActionType, ClusterEvent, PodInfo, QueuedPodInfo
from schedviz.engine.queue.v1_27 import PriorityQueue, events
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.trace.events import PodNominated, QueueMoved
from schedviz.trace.recorder import Recorder

NODE_ADD_OR_LABEL = ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)


def make_pod(name: str, *, labels: dict[str, str] | None = None, nominated: str = "", **spec: Any) -> Pod:
    pod = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels or {}},
            "spec": {"containers": [{"name": "c"}], **spec},
            "status": {"nominatedNodeName": nominated},
        }
    )
    assert isinstance(pod, Pod)
    return pod


GATED = {"schedulingGates": [{"name": "wait"}]}
NEAR_WEB = {
    "affinity": {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}]
        }
    }
}


class World:
    """A queue with a clock and an informer."""

    def __init__(self) -> None:
        self.now = 0
        self.pods: dict[str, Pod] = {}
        self.recorder = Recorder()
        self.queue = PriorityQueue(
            self.recorder,
            now=lambda: self.now,
            less=lambda first, second: (-first.pod_info.priority, first.timestamp) < (-second.pod_info.priority, second.timestamp),
            find_gating_plugin=lambda pod: "SchedulingGates" if pod.pod.spec.scheduling_gates else None,
            cluster_event_map={NODE_ADD_OR_LABEL: ["NodeAffinity"], ClusterEvent(GVK.POD, ActionType.ALL): ["InterPodAffinity"]},
            pod_lister=lambda _, name: self.pods.get(name),
            namespace_labels=lambda _: {},
        )

    def add(self, name: str, **members: Any) -> PodInfo:
        pod = self.pods[name] = make_pod(name, **members)
        self.now += 1
        self.queue.add(PodInfo(pod))
        return PodInfo(pod)

    def update(self, name: str, **members: Any) -> None:
        old, new = self.pods[name], make_pod(name, **members)
        self.pods[name] = new
        self.queue.update(PodInfo(old), PodInfo(new))

    def pop(self) -> QueuedPodInfo:
        queued = self.queue.pop()
        assert queued is not None
        return queued

    def fail(self, *plugins: str) -> QueuedPodInfo:
        """Pop a pod and add it again as rejected by these plugins."""
        queued = self.pop()
        queued.unschedulable_plugins = set(plugins)
        self.queue.add_unschedulable_if_not_present(queued, self.queue.scheduling_cycle)
        return queued

    def pass_seconds(self, seconds: float) -> None:
        self.now += round(seconds * NANOS_PER_SECOND)

    def where(self, name: str) -> str:
        key = f"default/{name}"
        places = {
            "activeQ": key in self.queue.active_q,
            "backoffQ": key in self.queue.backoff_q,
            "unschedulable": key in self.queue.unschedulable_pods,
        }
        return " ".join(place for place, is_there in places.items() if is_there)


@pytest.fixture
def world() -> World:
    return World()


def test_the_highest_priority_is_popped_first_then_the_oldest(world: World) -> None:
    world.add("low", priority=1)
    world.add("old", priority=5)
    world.add("new", priority=5)

    assert [world.pop().pod.name for _ in range(3)] == ["old", "new", "low"]
    assert world.queue.pop() is None
    assert world.queue.scheduling_cycle == 3


def test_a_pod_that_failed_waits_for_an_event(world: World) -> None:
    world.add("p")
    world.fail("NodeAffinity")

    assert world.where("p") == "unschedulable"


def test_a_pod_that_failed_during_a_move_request_backs_off(world: World) -> None:
    world.add("p")
    queued = world.pop()
    world.queue.move_all_to_active_or_backoff_queue(events.NODE_ADD)
    world.queue.add_unschedulable_if_not_present(queued, world.queue.scheduling_cycle)

    assert world.where("p") == "backoffQ"


def test_an_event_moves_only_pods_whose_plugin_waits_for_it(world: World) -> None:
    world.add("affinity")
    world.fail("NodeAffinity")
    world.add("fit")
    world.fail("NodeResourcesFit")
    world.add("error")
    world.fail()
    world.pass_seconds(60)

    world.queue.move_all_to_active_or_backoff_queue(events.NODE_LABEL_CHANGE)

    assert [world.where(name) for name in ("affinity", "fit", "error")] == ["activeQ", "unschedulable", "activeQ"]


def test_an_event_moves_only_pods_that_pass_its_check(world: World) -> None:
    for name in ("a", "b"):
        world.add(name)
        world.fail("NodeAffinity")
    world.pass_seconds(60)

    world.queue.move_all_to_active_or_backoff_queue(events.NODE_ADD, lambda pod: pod.name == "b")

    assert (world.where("a"), world.where("b")) == ("unschedulable", "activeQ")


def test_a_pod_moves_to_backoffq_during_its_backoff_and_to_activeq_afterwards(world: World) -> None:
    world.add("p")
    world.fail("NodeAffinity")
    world.queue.move_all_to_active_or_backoff_queue(events.NODE_ADD)
    assert world.where("p") == "backoffQ"

    world.pass_seconds(0.999)
    world.queue.flush_backoff_q_completed()
    assert world.where("p") == "backoffQ"

    world.pass_seconds(0.001)
    world.queue.flush_backoff_q_completed()
    assert world.where("p") == "activeQ"


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (50, 10)])
def test_backoff_doubles_up_to_ten_seconds(world: World, attempts: int, seconds: int) -> None:
    queued = QueuedPodInfo(PodInfo(make_pod("p")), timestamp=5)
    queued.attempts = attempts

    assert world.queue.backoff_expiry(queued) == 5 + seconds * NANOS_PER_SECOND


def test_moving_no_pod_still_records_the_cycle(world: World) -> None:
    world.add("p")
    world.pop()
    world.recorder.drain()

    world.queue.assigned_pod_added(PodInfo(make_pod("other")))

    assert world.queue.move_request_cycle == 1
    (event,) = world.recorder.drain()
    assert isinstance(event, QueueMoved)
    assert (event.cause, event.moves, event.move_request_cycle) == ("AssignedPodAdd", [], 1)

    world.queue.assigned_pod_added(PodInfo(make_pod("another")))
    assert world.recorder.drain() == []


def test_an_assigned_pod_moves_pods_with_affinity_to_it(world: World) -> None:
    world.add("near", **NEAR_WEB)
    world.fail("InterPodAffinity")
    world.add("other")
    world.fail("InterPodAffinity")
    world.pass_seconds(60)

    world.queue.assigned_pod_added(PodInfo(make_pod("db", labels={"app": "db"})))
    assert world.where("near") == "unschedulable"

    world.queue.assigned_pod_updated(PodInfo(make_pod("web", labels={"app": "web"})))
    assert (world.where("near"), world.where("other")) == ("activeQ", "unschedulable")


def test_a_pod_is_unschedulable_for_five_minutes_at_most(world: World) -> None:
    world.add("p")
    world.fail("NodeResourcesFit")

    world.pass_seconds(300)
    world.queue.flush_unschedulable_pods_leftover()
    assert world.where("p") == "unschedulable"

    world.pass_seconds(0.001)
    world.queue.flush_unschedulable_pods_leftover()
    assert world.where("p") == "activeQ"


def test_a_gated_pod_enters_activeq_when_its_last_gate_is_removed(world: World) -> None:
    world.add("p", **GATED)
    assert world.where("p") == "unschedulable"
    assert world.queue.to_view().unschedulable[0].gated

    world.update("p")

    assert world.where("p") == "activeQ"


def test_an_update_of_its_labels_retries_an_unschedulable_pod(world: World) -> None:
    world.add("p")
    world.fail("NodeResourcesFit")

    world.update("p", labels={"app": "web"})

    assert world.where("p") == "backoffQ"


def test_an_update_of_its_status_keeps_an_unschedulable_pod_in_place(world: World) -> None:
    world.add("p")
    world.fail("NodeResourcesFit")
    world.pass_seconds(60)

    world.update("p", nominated="n1")

    assert world.where("p") == "unschedulable"


def test_a_pod_updated_during_its_attempt_is_queued_once(world: World) -> None:
    world.add("p")
    queued = world.pop()

    world.update("p", labels={"app": "web"})

    assert world.where("p") == "activeQ"
    assert not world.queue.add_unschedulable_if_not_present(queued, 1)


def test_a_deleted_pod_is_in_no_queue_and_not_nominated(world: World) -> None:
    info = world.add("p", nominated="n1")
    assert world.queue.to_view().nominated == {"n1": ["default/p"]}

    world.queue.delete(info)

    assert world.where("p") == ""
    assert world.queue.to_view().nominated == {}


def test_plugins_can_activate_a_pod(world: World) -> None:
    world.add("p")
    world.fail("NodeAffinity")

    world.queue.activate(["default/p", "default/unknown"])

    assert world.where("p") == "activeQ"


def test_a_withdrawn_nomination_is_kept_under_the_empty_node_name(world: World) -> None:
    info = world.add("p")
    world.recorder.drain()

    world.queue.add_nominated_pod(info, NominatingInfo(NominatingMode.OVERRIDE, ""))

    assert world.queue.to_view().nominated == {"": ["default/p"]}
    assert [event.node for event in world.recorder.drain() if isinstance(event, PodNominated)] == [""]


def test_an_update_without_the_nomination_keeps_it(world: World) -> None:
    info = world.add("p")
    world.queue.add_nominated_pod(info, NominatingInfo(NominatingMode.OVERRIDE, "n1"))

    world.update("p", labels={"app": "web"})
    assert [pod.name for pod in world.queue.nominated_pods_for_node("n1")] == ["p"]

    world.update("p", nominated="n2")
    assert world.queue.to_view().nominated == {"n2": ["default/p"]}


def test_a_deleted_or_assigned_pod_is_not_nominated(world: World) -> None:
    info = world.add("p")
    bound = world.pods["p"]
    world.pods["p"] = msgspec.structs.replace(bound, spec=msgspec.structs.replace(bound.spec, node_name="n1"))

    world.queue.add_nominated_pod(info, NominatingInfo(NominatingMode.OVERRIDE, "n1"))
    assert world.queue.to_view().nominated == {}

    del world.pods["p"]
    world.queue.add_nominated_pod(info, NominatingInfo(NominatingMode.OVERRIDE, "n1"))
    assert world.queue.to_view().nominated == {}


def test_pods_move_in_order_of_their_names(world: World) -> None:
    for name in ("c", "a", "b"):
        world.add(name)
        world.fail("NodeAffinity")
    world.pass_seconds(60)
    world.recorder.drain()

    world.queue.move_all_to_active_or_backoff_queue(events.NODE_ADD)

    (event,) = world.recorder.drain()
    assert isinstance(event, QueueMoved)
    assert [(move.pod, move.source, move.target) for move in event.moves] == [
        ("default/a", "unschedulable", "activeQ"),
        ("default/b", "unschedulable", "activeQ"),
        ("default/c", "unschedulable", "activeQ"),
    ]


def test_the_next_timers_are_known(world: World) -> None:
    assert (world.queue.next_backoff_end(), world.queue.next_unschedulable_timeout()) == (None, None)
    world.add("p")
    world.fail("NodeAffinity")
    assert world.queue.next_unschedulable_timeout() == world.now + 300 * NANOS_PER_SECOND

    world.queue.move_all_to_active_or_backoff_queue(events.NODE_ADD)
    assert world.queue.next_backoff_end() == world.now + NANOS_PER_SECOND
