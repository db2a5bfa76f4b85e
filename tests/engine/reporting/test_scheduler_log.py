"""The scheduler's log has the words and the source lines of the session's release."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedviz.engine import run_trace
from schedviz.ingest.trace_file import trace_from_dict

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "10"}},
}


def pod(name: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


def logged(release: str, *steps: dict[str, Any], v: int = 2, form: str = "text", **header: Any) -> list[str]:
    """The log without times, from the source file on."""
    document = {"format": "schedviz-trace/1", "release": release, "logging": {"v": v, "format": form}, "steps": list(steps), **header}
    observed = [step["observed"] for step in run_trace(trace_from_dict(document))["steps"]]
    return [line.split(" 1 ", 1)[-1] for one in observed for line in one.get("log", "").splitlines()]


CREATES = [{"op": "create", "object": NODE}, *({"op": "create", "object": pod(name)} for name in ("a", "b"))]


@pytest.mark.parametrize(
    ("release", "starts"),
    [
        ("v1.27.1", ['node_tree.go:65] "Added node in', "schedule_one.go:252]", "schedule_one.go:867]"]),
        ("v1.36", ['node_tree.go:65] "Added node to', "schedule_one.go:481]", "preemption.go:136]", "schedule_one.go:1239]"]),
    ],
)
def test_each_release_logs_its_own_lines(release: str, starts: list[str]) -> None:
    lines = logged(release, *CREATES, {"op": "run"})

    assert [line.startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * len(starts)


@pytest.mark.parametrize(("release", "shown"), [("v1.27.1", "missedNodes=[n2]"), ("v1.36", 'missedNodes=["n2"]')])
def test_lists_are_shown_as_the_releases_klog_shows_them(release: str, shown: str) -> None:
    lost = {"op": "create", "object": NODE | {"metadata": {"name": "n2"}}, "drop": "handlers"}

    lines = logged(release, *CREATES, lost, {"op": "dump"})

    assert any("Cache mismatch" in line and shown in line for line in lines)


# v1.36, up to verbosity 5. The recordings of tests/conformance cover most lines; these tests cover the others.


def update(obj: dict[str, Any]) -> dict[str, Any]:
    return {"op": "update", "object": obj}


def create(obj: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"op": "create", "object": obj, **more}


def big(name: str, cpu: str = "9", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def node(name: str = "n1", **members: Any) -> dict[str, Any]:
    return {**NODE, "metadata": {"name": name, **members.pop("metadata", {})}, **members}


def only(lines: list[str], file: str) -> list[str]:
    """The lines of a source file, from their message on."""
    return [line.partition("] ")[2] for line in lines if line.startswith(file)]


def test_a_log_at_a_low_verbosity_is_part_of_one_at_a_higher_verbosity() -> None:
    steps = [*CREATES, {"op": "run"}]
    low, high = (logged("v1.36", *steps, v=v) for v in (2, 3))
    assert [line for line in high if line in low] == low
    assert len(high) > len(low)


def test_loggers_have_names_from_verbosity_4_on() -> None:
    low, high = (only(logged("v1.36", *CREATES, {"op": "run"}, v=v), "default_binder.go")[0] for v in (3, 4))
    assert low == '"Attempting to bind pod to node" pod="default/a" node="n1"'
    assert high == '"Attempting to bind pod to node" logger="Bind.DefaultBinder" pod="default/a" node="n1"'


def test_json_writes_the_values_of_the_logger_and_of_the_line() -> None:
    lines = logged("v1.36", *CREATES, {"op": "cycle"}, v=5, form="json")
    pairs = [json.loads(line, object_pairs_hook=list) for line in lines]
    bound = next(found for found in pairs if ["msg", "Attempting to bind pod to node"] in [list(pair) for pair in found])
    assert [key for key, _ in bound] == ["ts", "logger", "caller", "msg", "pod", "v", "pod", "node"]
    assert dict(bound)["logger"] == "Bind.DefaultBinder"


def test_the_namespace_line_is_missing_if_the_namespace_exists() -> None:
    namespace = create({"kind": "Namespace", "metadata": {"name": "default"}})
    assert only(logged("v1.36", *CREATES, {"op": "run"}, v=3), "plugin.go:167")
    assert not only(logged("v1.36", namespace, *CREATES, {"op": "run"}, v=3), "plugin.go:167")


def test_the_taint_that_rejects_a_node_is_shown() -> None:
    tainted = node("n2", spec={"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]})
    [line] = only(logged("v1.36", create(tainted), create(pod("a")), {"op": "cycle"}, v=4), "taint_toleration.go:130")
    assert line == (
        '"node had untolerated taints" logger="FilterWithNominatedPods.Filter.TaintToleration" pod="default/a" node="n2"'
        ' untoleratedTaint={"key":"k","value":"v","effect":"NoSchedule"}'
    )


@pytest.mark.parametrize(
    ("waiting", "change", "line"),
    [
        (big("a"), create(node("n2")), "node was created or updated, but it doesn't have enough resource(s) to accommodate this pod"),
        (
            big("a"),
            create(node("n2", status={"allocatable": {"cpu": "9", "memory": "4Gi", "pods": "10"}})),
            "node was added and it might fit the pod's resource requests",
        ),
        (
            big("a", nodeSelector={"a": "b"}),
            create(node("n2")),
            "node was created or updated, but the pod's NodeAffinity doesn't match",
        ),
        (
            big("a", "1", nodeSelector={"a": "b"}),
            create(node("n2", metadata={"labels": {"a": "b"}})),
            "node was created, and matches with the pod's NodeAffinity",
        ),
        (
            big("a", "1", nodeSelector={"a": "b"}),
            update(node("n1", metadata={"labels": {"a": "b"}})),
            "node was updated and the pod's NodeAffinity changed to matched",
        ),
    ],
)
def test_hints_log_why_an_event_helps_or_not(waiting: dict[str, Any], change: dict[str, Any], line: str) -> None:
    lines = logged("v1.36", create(NODE), create(waiting), {"op": "cycle"}, change, v=5)
    assert [one for one in lines if f'"{line}" pod="default/a" node="n' in one]


def test_an_event_in_flight_is_checked_when_the_pod_comes_back() -> None:
    steps = [create(NODE), create(big("a")), {"op": "schedule", "during": [create(node("n2")), create(node("n3"))]}]

    lines = only(logged("v1.36", *steps, v=5), "scheduling_queue.go")

    assert lines == [
        '"Event received while pods are in flight" event="NodeAdd"',
        '"Event received while pods are in flight" event="NodeAdd"',
        '"Checking event for in-flight pod" pod="default/a" event="NodeAdd"',
        '"Checking event for in-flight pod" pod="default/a" event="NodeAdd"',
        (
            '"Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Unschedulable"'
            ' schedulingCycle=1 hint=0 unschedulable plugins={"NodeResourcesFit":{}}'
        ),
    ]


def test_a_pod_that_was_deleted_during_its_cycle_is_not_requeued() -> None:
    gone = {"op": "delete", "kind": "Pod", "name": "a"}
    lines = logged("v1.36", create(NODE), create(big("a")), {"op": "schedule", "during": [gone]}, v=4)
    failure = [line.partition("]")[0] for line in lines[lines.index(next(line for line in lines if "eventhandlers.go:335" in line)) :]]
    assert failure == [
        "eventhandlers.go:335",
        "schedule_one.go:1239",
        "schedule_one.go:1250",
        "nominator.go:92",
        "schedule_one.go:1325",
    ]


def test_a_gated_pod_is_logged_with_its_plugin() -> None:
    lines = logged("v1.36", create(big("g", schedulingGates=[{"name": "x/y"}])), v=5)
    assert only(lines, "scheduling_queue.go") == [
        '"Status after running PreEnqueue plugin" pod="default/g" plugin="SchedulingGates" status="waiting for scheduling gates: [x/y]"',
        (
            '"Pod moved to an internal scheduling queue, because the pod is gated" pod="default/g" event="UnschedulablePodAdd"'
            ' queue="Unschedulable"'
        ),
    ]


@pytest.mark.parametrize(
    ("gates", "lines"),
    [
        (
            {},
            [
                '"Start the preemption asynchronously" preemptor="default/high" node="n1" numVictims=1 numVictimsToDelete=1',
                '"Preemptor Pod preempted victim Pod" preemptor="default/high" victim="default/a" node="n1"',
                '"Async Preemption finished completely" preemptor="default/high" node="n1" result="success"',
            ],
        ),
        (
            {"SchedulerAsyncPreemption": False},
            ['"Preemptor Pod preempted victim Pod" pod="default/high" preemptor="default/high" victim="default/a" node="n1"'],
        ),
    ],
)
def test_evictions_are_logged(gates: dict[str, bool], lines: list[str]) -> None:
    steps = [create(NODE), create(pod("a")), {"op": "cycle"}, create(big("high", "1", priority=10)), {"op": "cycle"}]
    assert only(logged("v1.36", *steps, v=2, featureGates=gates), "executor.go") == lines


def test_batching_logs_the_hint_of_the_last_cycle() -> None:
    spread = {"name": "PodTopologySpread", "args": {"defaultingType": "List"}}
    config = {"profiles": [{"schedulerName": "default-scheduler", "pluginConfig": [spread]}]}
    nodes = [create(node(f"n{number}")) for number in (1, 2, 3)]

    lines = only(logged("v1.36", *nodes, create(pod("a")), create(pod("b")), {"op": "run"}, v=4, config=config), "batch.go")

    assert lines == [
        '"OpportunisticBatch no node hint available for pod" pod="default/a" profile="default-scheduler" cycleCount=1',
        '"OpportunisticBatch set cycle state" pod="default/a" profile="default-scheduler" cycleCount=1 hintedNode="" chosenNode="n1"',
        '"OpportunisticBatch set batch information" pod="default/a" profile="default-scheduler" nodes=2 cycleCount=1',
        '"OpportunisticBatch provided node hint" pod="default/b" profile="default-scheduler" cycleCount=2 hint="n3" remainingNodes=1',
        '"OpportunisticBatch set cycle state" pod="default/b" profile="default-scheduler" cycleCount=2 hintedNode="n3" chosenNode="n3"',
        (
            '"OpportunisticBatch skipping set state because hint was provided" pod="default/b" profile="default-scheduler" cycleCount=2'
            ' chosenNode="n3"'
        ),
    ]


def test_deleting_a_node_is_logged_after_the_queue_was_notified() -> None:
    gone = {"op": "delete", "kind": "Node", "name": "n1"}
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]

    lines = logged("v1.36", create(NODE), create(big("a", "1", topologySpreadConstraints=spread)), {"op": "cycle"}, gone, v=5)

    assert [line.partition("]")[0] for line in lines[-4:]] == [
        "plugin.go:356",
        "scheduling_queue.go:1325",
        "eventhandlers.go:122",
        "node_tree.go:79",
    ]


def test_a_dump_lists_both_heaps_of_backoff_q() -> None:
    failed = {"op": "bind_fail", "pod": "default/a", "message": "boom"}
    room = update(node("n1", status={"allocatable": {"cpu": "9", "memory": "4Gi", "pods": "10"}}))
    steps = [create(NODE), create(big("b")), {"op": "cycle"}, create(pod("a")), {"op": "schedule"}, failed, room, {"op": "dump"}]
    lines = logged("v1.36", *steps)
    assert [line.strip().split(",")[0] for line in lines[-3:-1]] == ["name: b", "name: a"]
    assert 'summary="activeQ:0; backoffQ:2; unschedulablePods:0"' in lines[-4]


def test_a_failed_binding_logs_its_errors_at_every_verbosity() -> None:
    steps = [*CREATES, {"op": "schedule"}, {"op": "bind_fail", "pod": "default/a", "message": "boom"}]
    error = 'err="running Bind plugin \\"DefaultBinder\\": boom" logger="UnhandledError" pod="default/a"'
    assert logged("v1.36", *steps, v=1)[-3:] == [
        'framework.go:1805] "Plugin Failed" err="boom" pod="default/a" plugin="DefaultBinder" node="n1"',
        'schedule_one.go:1182] "Failed to bind pod" pod="default/a"',
        f'schedule_one.go:1243] "Error scheduling pod; retrying" {error}',
    ]


def test_an_error_begins_with_e_in_text_and_has_no_verbosity_in_json() -> None:
    steps = [*CREATES, {"op": "schedule"}, {"op": "bind_fail", "pod": "default/a", "message": "boom"}]
    text, structured = (
        run_trace(trace_from_dict({"format": "schedviz-trace/1", "release": "v1.36", "logging": {"v": 0, "format": form}, "steps": steps}))
        for form in ("text", "json")
    )
    assert text["steps"][-1]["observed"]["log"].startswith("E0101 00:00:00.005000       1 framework.go:1805] ")
    [_, retried] = [json.loads(line) for line in structured["steps"][-1]["observed"]["log"].splitlines()]
    assert list(retried) == ["ts", "logger", "caller", "msg", "pod", "err"]
    assert retried["err"] == 'running Bind plugin "DefaultBinder": boom'


def test_an_eviction_that_fails_is_logged() -> None:
    steps = [create(NODE), create(pod("a")), {"op": "cycle"}, create(big("high", "1", priority=10)), {"op": "cycle"}]
    failing = {"op": "preempt", "pod": "*", "fail": "no"}

    lines = only(logged("v1.36", *steps, failing, v=2, holdPreemption=True), "executor.go")

    assert lines == [
        '"Start the preemption asynchronously" preemptor="default/high" node="n1" numVictims=1 numVictimsToDelete=1',
        '"Tried to preempted pod" err="no" pod="default/a" preemptor="default/high"',
        '"Error occurred during async preemption of the last victim" err="no" logger="UnhandledError"',
        '"Async Preemption finished completely" preemptor="default/high" node="n1" result="error"',
    ]


def test_a_node_without_a_topology_key_is_logged() -> None:
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]
    lines = logged("v1.36", create(NODE), create(big("a", "1", topologySpreadConstraints=spread)), {"op": "cycle"}, v=5)
    assert only(lines, "filtering.go:333") == [
        (
            '"Node doesn\'t have required topology label for spread constraint" logger="FilterWithNominatedPods.Filter.PodTopologySpread"'
            ' pod="default/a" node="n1" topologyKey="zone"'
        )
    ]


def anti_affine(kind: str) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
    return big("a", "1", affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def labelled(zone: str | None) -> dict[str, Any]:
    return node("n1", metadata={"labels": {} if zone is None else {"zone": zone}})


def placed(app: str) -> dict[str, Any]:
    placed_pod = big("other", "0", nodeName="n1")
    return {**placed_pod, "metadata": {"name": "other", "labels": {"app": app}}}


GONE = {"op": "delete", "kind": "Pod", "name": "other"}


@pytest.mark.parametrize(
    ("kind", "change", "line"),
    [
        ("podAffinity", update(labelled("b")), 'plugin.go:293] "A node is moved to a different domain of pod affinity'),
        ("podAffinity", update(placed("x")), "plugin.go:207] \"a scheduled pod was updated to match the target pod's affinity"),
        ("podAntiAffinity", update(labelled(None)), 'plugin.go:327] "A node got updated to not have the topology key'),
        ("podAntiAffinity", update(labelled("b")), 'plugin.go:334] "A node is moved to a different domain of pod anti-affinity'),
        ("podAntiAffinity", create(node("n2")), 'plugin.go:315] "A node was added and it may make the pod schedulable'),
        ("podAntiAffinity", update(placed("y")), 'plugin.go:212] "a scheduled pod was updated not to match'),
        ("podAntiAffinity", GONE, "plugin.go:236] \"a scheduled pod was deleted and it matches the target pod's anti-affinity"),
    ],
)
def test_inter_pod_affinity_logs_which_term_an_event_helps(kind: str, change: dict[str, Any], line: str) -> None:
    app = "x" if kind == "podAntiAffinity" else "y"
    steps = [create(labelled("a")), create(placed(app)), create(anti_affine(kind)), {"op": "cycle"}, change]
    assert [one for one in logged("v1.36", *steps, v=5) if one.startswith(line)]


def test_the_dry_run_of_a_preemption_is_logged() -> None:
    steps = [create(NODE), create(node("n2")), create(pod("a")), {"op": "cycle"}, create(big("high", "1", priority=10))]
    full = create({**placed("y"), "spec": {**placed("y")["spec"], "nodeName": "n2", "priority": 20}})
    full["object"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    where = 'logger="PostFilter.DefaultPreemption"'

    lines = logged("v1.36", *steps, full, {"op": "cycle"}, v=5)

    begin = next(index for index, line in enumerate(lines) if line.startswith("preemption.go:415"))
    assert lines[begin : begin + 5] == [
        (
            f'preemption.go:415] "Dry run the preemption" {where} pod="default/high" potentialNodesNumber=2 pdbsNumber=0 offset=0'
            " candidatesNumber=2"
        ),
        f'preemption.go:421] "Check the potential node for preemption" {where} pod="default/high" node="n1"',
        f'default_preemption.go:326] "Pod is a potential preemption victim on node" {where} pod="default/a" node="n1"',
        f'preemption.go:421] "Check the potential node for preemption" {where} pod="default/high" node="n2"',
        f'preemption.go:162] "the target node for the preemption is determined" {where} pod="default/high" node="n1"',
    ]


# Pod groups.

GANGS = {"GenericWorkload": True, "GangScheduling": True}


def gang(min_count: int, **spec: Any) -> dict[str, Any]:
    policy = {"schedulingPolicy": {"gang": {"minCount": min_count}}}
    return create({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "gang"}, "spec": policy | spec})


def member(name: str, cpu: str) -> dict[str, Any]:
    return create(big(name, cpu, schedulingGroup={"podGroupName": "gang"}))


def group_lines(*steps: dict[str, Any], v: int, **gates: bool) -> list[str]:
    return only(logged("v1.36", *steps, v=v, featureGates=GANGS | gates), "schedule_one_podgroup.go")


def test_a_group_that_fits_is_logged_with_its_pods() -> None:
    steps = (create(NODE), gang(2), member("a", "400m"), member("b", "400m"), {"op": "schedule"})
    assert group_lines(*steps, v=2) == ['"Successfully scheduled a pod group" podGroup="default/gang" scheduledPods=2 unschedulablePods=0']
    assert group_lines(*steps, v=5) == [
        '"Attempting to schedule pod group" podGroup="default/gang"',
        '"Running a pod group scheduling algorithm" podGroup="default/gang" unscheduledPodsCount=2',
        '"Attempting to schedule a pod belonging to a pod group" podGroup="default/gang" pod="default/a"',
        '"Attempting to schedule a pod belonging to a pod group" podGroup="default/gang" pod="default/b"',
        '"Successfully scheduled a pod group" podGroup="default/gang" scheduledPods=2 unschedulablePods=0',
    ]


def test_the_lines_of_a_cycle_within_a_group_name_the_group() -> None:
    steps = (create(NODE), gang(2), member("a", "400m"), member("b", "400m"), {"op": "schedule"})
    lines = logged("v1.36", *steps, v=5, featureGates=GANGS)
    assert not any("About to try and schedule pod" in line for line in lines)
    of_plugins = [line for line in lines if 'logger="PreFilter' in line]
    assert of_plugins
    assert all('podGroup="default/gang" pod="default/' in line for line in of_plugins)


def test_a_group_that_does_not_fit_is_logged() -> None:
    steps = (create(NODE), gang(2), member("a", "800m"), member("b", "800m"), {"op": "schedule"})
    assert group_lines(*steps, v=2) == ['"Unable to schedule a pod group" podGroup="default/gang" unschedulablePods=2']


def test_each_placement_of_a_group_is_logged() -> None:
    nodes = [create(node(name, metadata={"labels": {"zone": name}})) for name in ("n1", "n2")]
    topology = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    steps = (*nodes, gang(2, **topology), member("a", "400m"), member("b", "400m"), {"op": "schedule"})
    lines = group_lines(*steps, v=4, TopologyAwareWorkloadScheduling=True)
    assert sum(line.startswith('"Assuming placement in snapshot" podGroup="default/gang" placement=') for line in lines) == 2
