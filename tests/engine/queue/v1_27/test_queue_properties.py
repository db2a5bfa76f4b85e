"""Random calls of the queue: invariants hold, folded events equal its view, and a checkpoint restores all of it."""

from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.object_table import ObjectTable, ObjectTableState
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo, QueuedPodInfo
from schedviz.engine.invariants import validate_queue
from schedviz.engine.queue.v1_27 import PriorityQueue, SchedulingQueueState, events
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.trace.fold import Fold
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import QueueView, View

SECOND = 1_000_000_000
NAMES = ["a", "b", "c", "d", "e"]
PLUGINS = ["NodeResourcesFit", "NodeAffinity", "InterPodAffinity"]
EVENTS = [events.NODE_ADD, events.NODE_LABEL_CHANGE, events.ASSIGNED_POD_DELETE, events.STORAGE_CLASS_ADD, events.UNSCHEDULABLE_TIMEOUT]
CLUSTER_EVENT_MAP = {
    ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE): {"NodeResourcesFit"},
    ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL): {"NodeAffinity", "InterPodAffinity"},
    ClusterEvent(GVK.POD, ActionType.ALL): {"InterPodAffinity"},
    ClusterEvent(GVK.POD, ActionType.DELETE): {"NodeResourcesFit"},
}
NEAR_WEB = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}]
    }
}


def make_pod(
    uid: str, name: str, *, priority: int = 0, gated: bool = False, near_web: bool = False, node: str = "", label: str = ""
) -> Pod:
    spec: dict[str, Any] = {"containers": [{"name": "c"}], "priority": priority}
    if gated:
        spec["schedulingGates"] = [{"name": "wait"}]
    if near_web:
        spec["affinity"] = NEAR_WEB
    metadata = {"name": name, "namespace": "default", "uid": uid, "labels": {"app": label}}
    pod = codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"nominatedNodeName": node}})
    assert isinstance(pod, Pod)
    return pod


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.recorder = Recorder()
        self.now = 0
        self.made = 0
        #: The informer's pods.
        self.pods: dict[str, Pod] = {}
        self.popped: dict[str, tuple[QueuedPodInfo, int]] = {}
        self.queue = self.new_queue()
        self.fold = Fold(View(queue=QueueView()))

    def new_queue(self) -> PriorityQueue:
        return PriorityQueue(
            self.recorder,
            now=lambda: self.now,
            less=lambda first, second: (-first.pod_info.priority, first.timestamp) < (-second.pod_info.priority, second.timestamp),
            find_gating_plugin=lambda pod: "SchedulingGates" if pod.pod.spec.scheduling_gates else None,
            cluster_event_map=CLUSTER_EVENT_MAP,
            pod_lister=lambda _, name: self.pods.get(name),
            namespace_labels=lambda _: {},
        )

    def after(self, milliseconds: int) -> None:
        self.now += milliseconds * SECOND // 1000

    @rule(
        name=st.sampled_from(NAMES),
        priority=st.integers(0, 2),
        gated=st.booleans(),
        near_web=st.booleans(),
        node=st.sampled_from(["", "", "n1"]),
    )
    def pod_comes_or_changes(self, *, name: str, priority: int, gated: bool, near_web: bool, node: str) -> None:
        old = self.pods.get(name)
        if old is None:
            self.made += 1
        uid = old.uid if old is not None else f"u{self.made}"
        new = make_pod(uid, name, priority=priority, gated=gated, near_web=near_web, node=node)
        self.pods[name] = new
        if old is None:
            self.queue.add(PodInfo(new))
        elif new != old:
            self.queue.update(PodInfo(old), PodInfo(new))
        self.after(1)

    @rule(name=st.sampled_from(NAMES), node=st.sampled_from(["", "n1"]))
    def status_changes(self, name: str, node: str) -> None:
        old = self.pods.get(name)
        if old is not None:
            new = msgspec.structs.replace(old, status=msgspec.structs.replace(old.status, nominated_node_name=node))
            self.pods[name] = new
            self.queue.update(PodInfo(old), PodInfo(new))

    @rule(name=st.sampled_from(NAMES))
    def pod_goes(self, name: str) -> None:
        pod = self.pods.pop(name, None)
        if pod is not None:
            self.queue.delete(PodInfo(pod))

    @rule()
    def pop(self) -> None:
        due = self.fold.to_view().queue.active_q[0].pod if len(self.queue.active_q) else None
        queued = self.queue.pop()
        assert (queued.key if queued else None) == due
        if queued is not None:
            self.popped[queued.key] = (queued, self.queue.scheduling_cycle)

    @rule(plugins=st.sets(st.sampled_from(PLUGINS)), index=st.integers(0, 4), nominated=st.sampled_from([None, "", "n2"]))
    def attempt_fails(self, plugins: set[str], index: int, nominated: str | None) -> None:
        if not self.popped:
            return
        key = sorted(self.popped)[index % len(self.popped)]
        queued, cycle = self.popped.pop(key)
        pod = self.pods.get(queued.pod_info.name)
        if pod is None:
            return
        queued.pod_info = PodInfo(pod)
        queued.unschedulable_plugins = set(plugins)
        self.queue.add_unschedulable_if_not_present(queued, cycle)
        self.queue.add_nominated_pod(queued.pod_info, None if nominated is None else NominatingInfo(NominatingMode.OVERRIDE, nominated))
        self.after(1)

    @rule(event=st.sampled_from(EVENTS), only=st.sampled_from(["", "abc"]))
    def something_happens(self, event: ClusterEvent, only: str) -> None:
        self.queue.move_all_to_active_or_backoff_queue(event, (lambda pod: pod.name in only) if only else None)

    @rule(label=st.sampled_from(["web", "db"]), updated=st.booleans())
    def assigned_pod_comes_or_changes(self, *, label: str, updated: bool) -> None:
        pod = PodInfo(make_pod("other", "other", label=label))
        if updated:
            self.queue.assigned_pod_updated(pod)
        else:
            self.queue.assigned_pod_added(pod)

    @rule(names=st.sets(st.sampled_from(NAMES)))
    def plugin_activates(self, names: set[str]) -> None:
        # A gated pod in backoffQ would be in two queues, as upstream.
        self.queue.activate(f"default/{name}" for name in names if name in self.pods and not self.pods[name].spec.scheduling_gates)

    @rule(seconds=st.sampled_from([0, 1, 3, 400]))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds * SECOND
        self.queue.flush_backoff_q_completed()
        self.queue.flush_unschedulable_pods_leftover()

    @rule()
    def save_and_restore(self) -> None:
        table = ObjectTable()
        data = msgspec.msgpack.encode((self.queue.to_state(table), table.to_state()), enc_hook=codec.enc_hook)
        state, objects = msgspec.msgpack.decode(data, type=tuple[SchedulingQueueState, ObjectTableState], dec_hook=codec.dec_hook)
        self.queue = self.new_queue()
        self.queue.load(state, ObjectTable(state=objects))

        assert self.queue.to_state(ObjectTable()) == state

    @invariant()
    def events_add_up_to_the_view(self) -> None:
        self.fold.apply_all(self.recorder.drain())

        assert self.fold.to_view().queue == self.queue.to_view()

    @invariant()
    def state_is_valid(self) -> None:
        validate_queue(self.queue)


QueueMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, suppress_health_check=list(HealthCheck))
TestQueue = QueueMachine.TestCase
