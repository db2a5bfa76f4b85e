"""The simulated API server sets defaults, refuses requests and sends events as FORMAT.md defines."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.clock import SECOND, Clock
from schedviz.engine.cluster import Cluster, Refusal, WatchEvent, status_patch
from schedviz.engine.instructions import BindPod, PatchPodStatus
from schedviz.kube import codec
from schedviz.kube.core import Pod, PodCondition, PodStatus
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject
from schedviz.trace.recorder import Recorder


class Watched:
    """A cluster whose only watch records its events."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.cluster = Cluster(self.clock, Recorder())
        self.heard: list[WatchEvent] = []
        self.cluster.deliver = self.heard.append

    def create(self, **made: Any) -> Any:
        self.cluster.create(default_object(codec.from_dict(made)))
        return self.stored(made["kind"], made["metadata"]["name"])

    def update(self, **made: Any) -> Any:
        self.cluster.update(default_object(codec.from_dict(made)), made)
        return self.stored(made["kind"], made["metadata"]["name"])

    def stored(self, kind: str, name: str) -> Any:
        return self.cluster.store.get(kind, f"default/{name}" if kind == "Pod" else name)

    def verbs(self) -> list[str]:
        heard = [f"{event.verb} {event.key}" for event in self.heard]
        self.heard.clear()
        return heard


@pytest.fixture
def watched() -> Watched:
    return Watched()


def a_pod(name: str = "p", **more: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": name}, **more}


def test_a_reused_name_gets_a_new_uid(watched: Watched) -> None:
    assert watched.create(**a_pod()).uid == "default/p"
    watched.cluster.delete("Pod", "default", "p")
    assert watched.create(**a_pod()).uid == "default/p#2"
    assert watched.create(kind="Node", metadata={"name": "n"}).uid == "n"


def test_a_pod_gets_the_priority_of_its_class_or_of_the_default_class(watched: Watched) -> None:
    watched.create(kind="PriorityClass", metadata={"name": "high"}, value=1000, preemptionPolicy="Never")
    high = watched.create(**a_pod("a", spec={"priorityClassName": "high"}))
    assert (high.spec.priority, high.spec.preemption_policy) == (1000, "Never")
    assert watched.create(**a_pod("b")).spec.priority == 0
    watched.create(kind="PriorityClass", metadata={"name": "usual"}, value=7, globalDefault=True)
    usual = watched.create(**a_pod("c"))
    assert (usual.spec.priority, usual.spec.preemption_policy) == (7, "PreemptLowerPriority")
    assert watched.create(**a_pod("d", spec={"priority": 3})).spec.priority == 3


def test_an_update_keeps_identity_and_unset_members(watched: Watched) -> None:
    before = watched.create(**a_pod(spec={"priority": 5}, status={"phase": "Running"}))
    watched.clock.now += 9 * SECOND
    after = watched.update(**a_pod(spec={"nodeName": "n"}))
    assert (after.uid, after.metadata.creation_timestamp) == (before.uid, before.metadata.creation_timestamp)
    assert (after.spec.priority, after.spec.node_name, after.status.phase) == (5, "n", "Running")


def test_an_update_that_changes_nothing_sends_no_event(watched: Watched) -> None:
    watched.create(**a_pod())
    version = watched.stored("Pod", "p").metadata.resource_version
    watched.verbs()
    assert watched.update(**a_pod()).metadata.resource_version == version
    assert watched.verbs() == []


def test_a_finished_pod_is_deleted_for_watches(watched: Watched) -> None:
    watched.create(**a_pod())
    watched.update(**a_pod(status={"phase": "Succeeded"}))
    watched.update(**a_pod(status={"phase": "Succeeded", "nominatedNodeName": "n"}))
    assert watched.verbs() == ["ADDED default/p", "DELETED default/p"]


def test_a_graceful_deletion_is_an_update(watched: Watched) -> None:
    pod = watched.create(**a_pod())
    watched.clock.now += 4_000_000
    watched.cluster.delete("Pod", "default", "p", graceful=True)
    assert watched.verbs() == ["ADDED default/p", "MODIFIED default/p"]
    assert watched.stored("Pod", "p").metadata.deletion_timestamp == "2024-01-01T00:00:30.004Z"
    watched.cluster.carry_out(PatchPodStatus(pod, nominated_node_name="n"))
    assert watched.stored("Pod", "p").metadata.deletion_timestamp == "2024-01-01T00:00:30Z"


def test_an_object_with_finalizers_only_gets_a_deletion_timestamp(watched: Watched) -> None:
    watched.create(kind="PersistentVolume", metadata={"name": "v"})
    watched.cluster.delete("PersistentVolume", "", "v", finalizers=True)
    watched.update(kind="PersistentVolume", metadata={"name": "v"}, status={"phase": "Released"})
    assert watched.stored("PersistentVolume", "v").metadata.deletion_timestamp == "2024-01-01T00:00:00Z"
    watched.cluster.delete("PersistentVolume", "", "v")

    assert watched.verbs() == ["ADDED v", "MODIFIED v", "MODIFIED v", "DELETED v"]


def test_a_name_can_be_used_once(watched: Watched) -> None:
    watched.create(kind="CSINode", metadata={"name": "n"})
    with pytest.raises(Refusal, match=r'csinodes\.storage\.k8s\.io "n" already exists'):
        watched.create(kind="CSINode", metadata={"name": "n"})


def test_bindings_are_rejected_with_upstreams_messages(watched: Watched) -> None:
    pod = watched.create(**a_pod())
    conflict = 'Operation cannot be fulfilled on pods/binding "p": '

    def bind(of: Pod) -> str:
        return str(watched.cluster.carry_out(BindPod(of, "n1")) or "")

    assert bind(default_pod("other")) == 'pods "other" not found'
    assert bind(default_pod("p", uid="u")) == f"{conflict}Precondition failed: UID in precondition: u, UID in object meta: default/p"
    assert bind(pod) == ""
    assert bind(pod) == f'{conflict}pod p is already assigned to node "n1"'
    watched.cluster.delete("Pod", "default", "p", graceful=True)
    assert bind(pod) == f"{conflict}pod p is being deleted, cannot be assigned to a host"
    gated = watched.create(**a_pod("g", spec={"schedulingGates": [{"name": "x"}]}))
    assert bind(gated).endswith("pod g has non-empty .spec.schedulingGates")


def default_pod(name: str, uid: str = "") -> Pod:
    pod: KubeObject = default_object(codec.from_dict({"kind": "Pod", "metadata": {"name": name, "uid": uid}}))
    assert isinstance(pod, Pod)
    return pod


def test_a_bindings_event_precedes_later_events_of_the_pod(watched: Watched) -> None:
    pod = watched.create(**a_pod())
    watched.cluster.carry_out(BindPod(pod, "n1"))
    watched.cluster.send_held_events()
    assert watched.verbs() == ["ADDED default/p"]
    watched.cluster.delete("Pod", "default", "p")
    assert watched.verbs() == ["MODIFIED default/p", "DELETED default/p"]
    assert not watched.cluster.confirm("default/p")


def test_events_of_the_schedulers_writes_are_sent_after_its_cycle(watched: Watched) -> None:
    pod = watched.create(**a_pod())
    watched.verbs()
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no")
    watched.cluster.carry_out(PatchPodStatus(pod, condition))
    assert watched.verbs() == []
    watched.cluster.send_held_events()
    assert watched.verbs() == ["MODIFIED default/p"]


def test_a_patch_has_only_differences_from_the_schedulers_version() -> None:
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no", last_transition_time="t1")
    first = status_patch.between(PodStatus(), condition, "")
    assert first is not None
    assert first.detail == "condition PodScheduled=False Unschedulable"
    status = first.apply(PodStatus())
    assert status_patch.between(status, condition, None) is None
    other = status_patch.between(status, PodCondition(type="PodScheduled", status="False", reason="SchedulerError", message="x"), "n1")
    assert other is not None
    assert other.detail == 'condition PodScheduled= SchedulerError; nominatedNodeName="n1"'
    bound = status_patch.with_condition(status, PodCondition(type="PodScheduled", status="True", last_transition_time="t2"))
    merged = other.apply(bound).conditions[0]
    assert (merged.status, merged.reason, merged.last_transition_time) == ("True", "SchedulerError", "t2")
    cleared = status_patch.between(other.apply(status), None, "")
    assert cleared is not None
    assert cleared.detail == "nominatedNodeName=null"


def test_a_changed_finalizer_sends_an_event_although_the_status_is_kept(watched: Watched) -> None:
    watched.create(**a_pod(status={"podIP": "10.0.0.1"}))
    watched.verbs()
    watched.update(kind="Pod", metadata={"name": "p", "finalizers": ["example.com/x"]})
    assert watched.verbs() == ["MODIFIED default/p"]
    watched.update(kind="Pod", metadata={"name": "p"})
    assert watched.verbs() == ["MODIFIED default/p"]


def test_an_update_without_a_status_keeps_unread_status_members(watched: Watched) -> None:
    watched.create(**a_pod(status={"podIP": "10.0.0.1"}))
    watched.create(kind="Node", metadata={"name": "n"}, status={"nodeInfo": {"osImage": "linux"}})
    watched.create(kind="PersistentVolume", metadata={"name": "v"}, status={"message": "found"})
    watched.verbs()
    watched.update(**a_pod())
    watched.update(kind="Node", metadata={"name": "n"})
    watched.update(kind="PersistentVolume", metadata={"name": "v"})
    assert watched.verbs() == []
    watched.update(kind="Node", metadata={"name": "n"}, status={"nodeInfo": {"osImage": "other"}})
    assert watched.verbs() == ["MODIFIED n"]
