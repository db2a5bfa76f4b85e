"""Histories of pods and nodes, from events of real runs."""

from __future__ import annotations

from typing import Any

from schedviz.trace.affected_objects import affected_objects
from schedviz.trace.events import AnyEvent, BindingStarted
from schedviz.trace.story import CyclePod, Entry, StoryBuilder, lives_of
from tests.trace.stories import create, events_of, node, pod

VICTIM = {"op": "create", "object": pod("low", cpu="3", nodeName="node1", priority=1)}


def story(events: list[AnyEvent], kind: str, name: str) -> list[Entry]:
    lives = lives_of(name, events) if kind == "pods" else []
    return list(StoryBuilder(kind, name, lives=lives, find_cycle=lambda _: CyclePod()).entries(events))


def texts(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries]


def cycles(count: int) -> list[dict[str, Any]]:
    return [{"op": "cycle"}] * count


def test_the_history_of_a_scheduled_pod_goes_from_creation_to_confirmation() -> None:
    events = events_of(create(node("node1")), create(node("node2")), create(pod("web")), *cycles(1))

    assert texts(story(events, "pods", "default/web")) == [
        "created",
        "the watch event (ADDED) reached the scheduler",
        "added to activeQ because of PodAdd",
        "popped from activeQ",
        "scheduling cycle 1 began, attempt 1",
        "Filter passed 2 of the 2 nodes evaluated",
        "8 plugins scored 2 nodes",
        "selected node1 with a total of 673; 2 nodes have this total",
        "assumed on node1",
        "scheduling cycle 1 ended: scheduled to node1",
        "binding cycle began on node1",
        "binding to node1 written by the scheduler",
        "Bind ended: the pod is bound to node1",
        "binding noted in the cache (FinishBinding)",
        "Kubernetes event Scheduled: Successfully assigned default/web to node1",
        "the watch event (MODIFIED) reached the scheduler",
        "added to the cache on node1",
        "binding confirmed on node1",
    ]


def test_the_history_of_an_unschedulable_pod_names_plugins_and_requeue_events() -> None:
    events = events_of(
        *(create(node(f"node{number}", cpu="1")) for number in (1, 2, 3)),
        create(pod("web", cpu="2")),
        *cycles(1),
        create(node("node4")),
        {"op": "advance", "seconds": 2},
    )

    result = texts(story(events, "pods", "default/web"))

    assert "Filter: NodeResourcesFit rejected 3 of 3 nodes: Insufficient cpu" in result
    assert "added to unschedulablePods because of ScheduleAttemptFailure" in result
    assert "moved from unschedulablePods to backoffQ because of NodeAdd" in result
    assert "moved from backoffQ to activeQ because of BackoffComplete" in result
    assert "no longer nominated" in result


def test_the_history_of_a_v1_36_pod_names_its_gating_plugin_and_its_queueing_hint() -> None:
    gate = {"name": "quota.example/wait"}
    events = events_of(
        create(node("node1", cpu="1")),
        create(pod("gated", schedulingGates=[gate])),
        create(pod("web", cpu="2")),
        *cycles(1),
        create(node("node2")),
        release="v1.36",
    )

    waits = "PreEnqueue: SchedulingGates returned UnschedulableAndUnresolvable: waiting for scheduling gates: [quota.example/wait]"
    assert waits in texts(story(events, "pods", "default/gated"))
    web = texts(story(events, "pods", "default/web"))
    hint = "the queueing hint of NodeResourcesFit for NodeAdd returned Queue"
    assert hint in web
    assert "moved from unschedulablePods to backoffQ because of NodeAdd" in web


def test_the_history_of_a_pod_that_failed_with_an_error_names_error_backoff_q() -> None:
    scripted = {"name": "Scripted", "args": {"rules": [{"point": "reserve", "code": "Error", "times": 1}]}}
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Scripted"}]}}, "pluginConfig": [scripted]}
    events = events_of(create(node("node1")), create(pod("web")), *cycles(1), release="v1.36", config={"profiles": [profile]})

    result = texts(story(events, "pods", "default/web"))
    assert any("added to errorBackoffQ because of ScheduleAttemptFailure; its backoff ends at " in each for each in result), result


def test_the_histories_of_victim_and_preemptor_name_each_other() -> None:
    events = events_of(create(node("node1")), VICTIM, create(pod("high", cpu="3", priority=10)), *cycles(1))

    victim, preemptor = texts(story(events, "pods", "default/low")), texts(story(events, "pods", "default/high"))

    assert "evicted by default/high" in victim
    assert "Kubernetes event Preempted: Preempted by a pod on node node1" in victim
    assert "chosen as a victim: default/high needs its room on node1" in victim
    assert "PostFilter nominated node1, victims default/low" in preemptor
    assert "preempted default/low" in preemptor
    assert "nominated to node1" in preemptor


def test_the_history_of_a_node_has_its_pods_and_rejections() -> None:
    events = events_of(
        create(node("node1", cpu="1")), create(node("node2")), create(pod("web", cpu="2")), *cycles(1), {"op": "cordon", "node": "node2"}
    )

    assert "rejected default/web: NodeResourcesFit: Insufficient cpu" in texts(story(events, "nodes", "node1"))
    result = texts(story(events, "nodes", "node2"))
    for sentence in (
        "created",
        "added to the cache",
        "cloned into the snapshot, generation 4",
        "selected for default/web, the only feasible node",
    ):
        assert sentence in result
    for sentence in ("default/web was assumed on it", "default/web was bound to it", "binding of default/web confirmed"):
        assert sentence in result
    assert result[-1] == "updated in the cache"


def test_the_history_of_a_pod_with_node_affinity_lists_the_nodes_left_by_pre_filter() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["node2"]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}}}
    events = events_of(create(node("node1")), create(node("node2")), create(pod("web", affinity=affinity)), *cycles(1))

    assert "PreFilter restricted the pod to the nodes node2" in texts(story(events, "pods", "default/web"))


def test_the_next_best_node_of_an_equal_pod_is_not_called_nominated() -> None:
    # With default spread constraints no pod has a signature.
    config = {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}]}]}
    nodes, pods = [create(node(name)) for name in ("node1", "node2")], [create(pod(name, cpu="3")) for name in ("first", "second")]
    events = events_of(*nodes, *pods, *cycles(2), release="v1.36", config=config)
    (bound,) = [event.node for event in events if isinstance(event, BindingStarted) and event.pod == "default/second"]

    of_pod, of_node = texts(story(events, "pods", "default/second")), texts(story(events, "nodes", bound))
    assert f"Filter first evaluated {bound}, the next-best node of an equal pod: it fits" in of_pod
    assert "evaluated first for default/second, as the next-best node of an equal pod: fits" in of_node


def test_two_pods_with_the_same_name_are_distinguished_by_uid() -> None:
    gone = {"op": "delete", "kind": "Pod", "name": "web"}
    events = events_of(create(node("node1")), create(pod("web")), {"op": "schedule"}, gone, create(pod("web")), {"op": "bind"}, *cycles(1))

    lives = lives_of("default/web", events)
    entries = story(events, "pods", "default/web")

    first, second = "default/web", "default/web#2"
    assert [life.uid for life in lives] == [first, second]
    assert lives[0].died is not None
    assert lives[1].died is None
    created = [entry for entry in entries if entry.text == "created"]
    assert [entry.uid for entry in created] == [first, second]
    # The first pod's binding ends after the second pod was created.
    late = [entry for entry in entries if entry.uid == first and entry.event > created[1].event]
    assert any(entry.text.startswith("binding failed: ") for entry in late)
    assert [entry.uid for entry in entries if entry.text == "scheduling cycle 2 began, attempt 1"] == [second]


def test_a_restart_is_in_every_history() -> None:
    events = events_of(create(node("node1")), create(pod("web")), {"op": "restart"}, {"op": "reset"})

    result = texts(story(events, "pods", "default/web"))

    assert "the scheduler restarted; its informers list all objects again" in result
    assert "the session was reset to the imported state" in result


def test_every_object_named_in_an_event_is_affected() -> None:
    events = events_of(
        create(node("node1")),
        create(node("node2", cpu="1")),
        VICTIM,
        create(pod("high", cpu="3", priority=10)),
        create(pod("gated", schedulingGates=[{"name": "wait"}])),
        *cycles(2),
        {"op": "delete", "kind": "Node", "name": "node2"},
    )
    pods_of_cycles = {event.cycle: event.pod for event in events if type(event).__name__ == "CycleStarted"}

    result = affected_objects(events)

    for kind, name in [
        *(("pods", name) for name in ("default/low", "default/high", "default/gated")),
        ("nodes", "node1"),
        ("nodes", "node2"),
    ]:
        assert name in (result.pods if kind == "pods" else result.nodes)
        for event in events:
            alone = affected_objects([event])
            results = list(StoryBuilder(kind, name, find_cycle=lambda number: CyclePod(pods_of_cycles.get(number, ""))).entries([event]))
            if results and pods_of_cycles.get(event.cycle) != name:
                assert name in (alone.pods if kind == "pods" else alone.nodes), results


def test_the_history_of_v1_36_names_hints_evictions_and_early_pops() -> None:
    settings = {"release": "v1.36", "records_preemptions": True}
    events = events_of(create(node("node1")), VICTIM, create(pod("high", cpu="3", priority=100)), *cycles(1), {"op": "run"}, **settings)

    of_high, of_low = (texts(story(events, "pods", f"default/{name}")) for name in ("high", "low"))
    assert "its preemption began: default/low will be evicted from node1" in of_high
    assert "its preemption ended: the last victim was evicted from node1" in of_high
    assert "the queueing hint of NodeResourcesFit for AssignedPodDelete returned Queue" in of_high
    assert "popped from backoffQ before its backoff had ended, since activeQ was empty" in of_high
    assert "evicted from node1 for default/high" in of_low
    of_node = texts(story(events, "nodes", "node1"))
    assert "default/high began to evict default/low from it" in of_node
    assert "the preemption by default/high ended" in of_node
