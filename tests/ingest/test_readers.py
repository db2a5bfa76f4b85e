"""Each input format has a sample, is detected by its content, and gives objects, messages about pods, dumps or steps."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedviz.engine import Simulation, SimulationSettings, settings_of
from schedviz.ingest.errors import IngestError, UnreadableFile
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.files.source import Source, files_of
from schedviz.ingest.load import Import, load
from schedviz.ingest.simulators.kwok import merged
from schedviz.ingest.simulators.recording import ClusterRecording, RecordedChange
from schedviz.kube.core import Pod
from schedviz.trace.commands import Delete
from tests.ingest.sources import SAMPLES, imported, keys, sample, source

CLUSTER = ["Node node-1", "Node node-2", "Pod shop/web-1", "Pod shop/web-2"]
MESSAGE = "0/2 nodes are available: 2 Insufficient cpu."
#: The three that one import of a dump gives: name, format, objects, dumps, words.
FORMATS = {
    "cluster-info-dump.txt": ("kubectl cluster-info dump", 4, 1, 2),
    "simulator-export.json": ("kube-scheduler-simulator", 5, 0, 1),
    "simulator-record.jsonl": ("kube-scheduler-simulator", 3, 0, 0),
    "kwok-recording.yaml": ("KWOK recording", 3, 0, 0),
    "openb-nodes.csv": ("openb csv", 2, 0, 0),
    "openb-pods.csv": ("openb csv", 2, 0, 0),
    "simkube.mp": ("SimKube trace", 1, 0, 0),
    "list.json": ("JSON", 4, 0, 0),
    "sigusr2/01-plain/scheduler.log": ("kube-scheduler log", 14, 1, 1),
}


def messages(result: Import) -> dict[str, str]:
    return {message.pod: message.message for message in result.messages}


def told(result: Import, pod: str) -> str:
    """The message of a pod's condition."""
    (found,) = [obj for obj in result.objects if isinstance(obj, Pod) and obj.key == pod]
    return next((condition.message for condition in found.status.conditions), "")


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_recognised_by_its_content_and_not_by_its_name(name: str) -> None:
    result = load([Source.of_bytes("x", (SAMPLES / name).read_bytes())])
    (file,) = result.report.files
    kept = (file.format, file.objects, file.dumps, file.messages)
    assert kept == FORMATS[name] or (name.endswith(".log") and kept[0] == FORMATS[name][0] and kept[2:] == FORMATS[name][2:])


LISTS = [{"apiVersion": "v1", "kind": "NodeList", "items": []}, {"apiVersion": "v1", "kind": "PodList", "items": []}]


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump], ids=["json", "yaml"])
def test_a_list_of_lists_is_flattened(write: Callable[[Any], str]) -> None:
    items = json.loads((SAMPLES / "list.json").read_text())["items"]
    lists = [{**each, "items": [item for item in items if each["kind"] == f"{item['kind']}List"]} for each in LISTS]
    whole = {"apiVersion": "v1", "kind": "List", "items": [*lists, {"kind": "SecretList", "items": [{"data": {"a": "Yg=="}}]}]}

    result = load([Source.of_bytes("x", write(whole).encode())])

    assert keys(result) == CLUSTER
    assert any(drop.kind.startswith("Secret") for drop in result.report.dropped)
    lists[1]["items"][0]["spec"]["containers"] = 3
    partly = load([Source.of_bytes("x", (json.dumps(whole, indent=1) if write is json.dumps else write(whole)).encode())])
    assert re.search(r"line \d+: items\[1\]\.items\[0\]\.spec\.containers", partly.report.skipped[0].message)
    assert len(partly.objects) == len(result.objects) - 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_utf_16_as_powershell_writes_it_is_read(encoding: str, packed: Callable[[bytes], bytes]) -> None:
    text = (SAMPLES / "list.yaml").read_text().replace("\n", "\r\n")
    mark = "\ufeff" if encoding == "utf-16-be" else ""

    assert keys(load([Source.of_bytes("x", packed((mark + text).encode(encoding)))])) == CLUSTER


def test_warnings_of_kubectl_before_a_dump_are_skipped_and_line_numbers_kept() -> None:
    warnings = b"Warning: v1 ComponentStatus is deprecated in v1.19+\nE1122 10:00:00.000000 1 memcache.go:265] couldn't get it\n"

    assert keys(load([Source.of_bytes("x", warnings + (SAMPLES / "list.json").read_bytes())])) == CLUSTER
    with pytest.raises(IngestError, match="line 3: kind"):
        load([Source.of_bytes("x", warnings + b"{}")])


@pytest.mark.parametrize("name", ["list.json", "list.yaml"])
def test_a_dump_that_was_copied_from_a_terminal_is_read(name: str) -> None:
    prompt = b"\n\x1b[32mme@host\x1b[0m:~$ kubectl get nodes,pods -A -o json\n"

    assert keys(load([Source.of_bytes("x", prompt + (SAMPLES / name).read_bytes())])) == CLUSTER


def test_a_configuration_is_read_beside_a_cluster() -> None:
    result = load([Source.of_path(SAMPLES / name) for name in ("list.json", "kube-scheduler-config.yaml")])
    assert result.config is not None
    assert [profile["schedulerName"] for profile in result.config["profiles"]] == ["default-scheduler", "packing"]
    assert [extender["urlPrefix"] for extender in result.config["extenders"]] == ["https://extender.example/v1"]
    assert keys(result) == CLUSTER


def test_kubectl_describe_output_is_recognized_by_a_fragment() -> None:
    short = (
        b"Name:             web-2\nNamespace:        shop\nEvents:\n  Warning  FailedScheduling  2m  default-scheduler  " + MESSAGE.encode()
    )
    result = load([Source.of_path(SAMPLES / "list.json"), Source.of_bytes("pasted", short)])
    assert told(result, "shop/web-2") == MESSAGE


def test_a_cluster_info_dump_is_lists_with_logs_between_them() -> None:
    result = sample("cluster-info-dump.txt")
    assert keys(result) == CLUSTER
    assert [log.name for log in result.logs] == [f"{SAMPLES / 'cluster-info-dump.txt'}: kube-system/kube-scheduler-1/kube-scheduler"]
    assert len(result.logs[0].signals) == 1
    assert told(result, "shop/web-2") == MESSAGE
    assert [(drop.kind, drop.count) for drop in result.report.dropped] == [("DaemonSet", 1)]


def test_errors_in_a_cluster_info_dump_are_reported_with_their_line() -> None:
    text = (SAMPLES / "cluster-info-dump.txt").read_text()
    bad = text.replace('"cpu": "6"', '"cpu": "6x"')
    line = bad[: bad.index('"6x"')].count("\n") + 1
    assert re.search(f"line {line}: .*6x", imported(bad).report.skipped[0].message)


def test_a_log_alone_makes_a_partial_session_with_a_warning() -> None:
    result = sample("sigusr2/03-nominated/scheduler.log")
    assert result.made_of_dump
    assert "made from a SIGUSR2 dump alone" in result.report.warnings[0]
    pods = {obj.key: obj for obj in result.objects if isinstance(obj, Pod)}
    assert [gate.name for gate in pods["default/urgent-1"].spec.scheduling_gates] == ["schedviz.io/requests-are-not-in-a-dump"]
    assert pods["default/urgent-1"].status.nominated_node_name == "worker-1"
    simulation = Simulation(SimulationSettings(config=result.config))
    simulation.load(result.objects)
    dumped = {node.name: node.requested for node in result.logs[0].signals[0].dump.nodes}
    for info in simulation.scheduler.state.cache.nodes:
        assert (info.requested.milli_cpu, info.requested.memory) == (dumped[info.name].milli_cpu, dumped[info.name].memory)


def test_events_say_why_a_pod_waits() -> None:
    events = (SAMPLES / "events.json").read_text()
    result = imported(events, (SAMPLES / "cluster-info-dump.txt").read_text().replace("FailedScheduling", "Other"))
    assert messages(result)["shop/web-2"] == MESSAGE
    newer = (
        events.replace('"involvedObject"', '"regarding"').replace('"message"', '"note"').replace("2 Insufficient cpu", "2 Too many pods")
    )
    newer = newer.replace("00:00:05Z", "00:00:09Z")
    for order in ((events, newer), (newer, events)):
        assert messages(imported(*order, (SAMPLES / "simulator-export.json").read_text().replace("filter-result", "x")))[
            "shop/web-2"
        ] == MESSAGE.replace("2 Insufficient cpu", "2 Too many pods")


@pytest.mark.parametrize("name", ["events.txt", "describe.txt"])
def test_the_schedulers_messages_are_read_from_kubectls_human_readable_output(name: str) -> None:
    result = sample(name, "simkube.mp", "openb-nodes.csv")
    assert messages(result) == {"shop/web-2": MESSAGE}
    with pytest.raises(UnreadableFile, match=r"contains? messages of the scheduler, but no Kubernetes objects.*explain -f FILE`\."):
        sample(name)
    with pytest.raises(UnreadableFile, match=r"run `schedviz explain -f FILE` for each of them \(unpack an archive first\)\."):
        sample("events.txt", "describe.txt")


@pytest.mark.parametrize(
    "table",
    [
        "NAME    STATUS   ROLES           AGE   VERSION\nnode-1   Ready    control-plane   9d   v1.27.1\n",
        "NAMESPACE   NAME    READY   STATUS    RESTARTS   AGE   IP       NODE     NOMINATED NODE   READINESS GATES\nshop  web  1/1  Running  0  1d  10.0.0.1  n  <none>  <none>\n",
        "Name:               node-1\nRoles:              <none>\nLabels:             a=b\n",
    ],
)
def test_a_table_is_refused_with_the_command_to_run_instead(table: str) -> None:
    with pytest.raises(
        UnreadableFile,
        match=r"this is (?:a table of kubectl, which|output of `kubectl describe`, which) does not contain.*kubectl get nodes,pods,pv,pvc,sc,events -A -o json",
    ):
        imported(table)


def test_an_export_of_the_simulator_has_its_results_and_its_configuration() -> None:
    result = sample("simulator-export.json")
    assert keys(result) == ["Namespace shop", *CLUSTER]
    assert told(result, "shop/web-2") == MESSAGE
    assert result.config == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler"}],
    }


def run(result: Import) -> Simulation:
    assert result.trace is not None
    simulation = Simulation(settings_of(result.trace))
    simulation.load(result.objects)
    for step in result.trace.steps:
        simulation.start(step)  # type: ignore[arg-type]
        outcome = simulation.work()
        assert outcome is not None
        assert outcome.error == ""
    return simulation


@pytest.mark.parametrize("name", ["simulator-record.jsonl", "kwok-recording.yaml"])
def test_a_recording_has_initial_objects_and_later_changes(name: str) -> None:
    result = sample(name)
    assert keys(result) == CLUSTER[:3]
    assert result.trace is not None
    ops = [(type(step).__name__, getattr(step, "seconds", None)) for step in result.trace.steps]
    assert ops == [
        *(("Advance", 10.0), ("Create", None), ("Run", None)),
        *(("Advance", 10.0), ("Update", None), ("Run", None)),
        *(("Advance", 10.0), ("Delete", None), ("Run", None)),
    ]
    create = result.trace.steps[1]
    assert "nodeName" not in create.object["spec"]  # type: ignore[union-attr]
    simulation = run(result)
    assert simulation.clock_seconds >= 30
    assert [info.allocatable.milli_cpu for info in simulation.scheduler.state.cache.nodes if info.name == "node-2"] == [8000]
    assert "update of a pod, which the session's own scheduler decides" in result.report.warnings[0]


def test_a_recorded_claim_that_its_finalizers_keep_is_being_deleted() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}}
    deleted = {**claim, "metadata": {**claim["metadata"], "deletionTimestamp": "2026-01-01T00:00:05Z"}}
    changes = [RecordedChange(0.0, "put", claim), RecordedChange(5.0, "put", deleted)]

    _, read = ClusterRecording("r").read(changes)

    assert isinstance(read, RecordedSteps)
    assert [type(step).__name__ for step in read.steps] == ["Advance", "Delete", "Update", "Run"]
    assert isinstance(read.steps[1], Delete)
    assert read.steps[1].finalizers


def test_a_simkube_trace_has_the_owners_of_pods_and_another_file_the_nodes() -> None:
    result = sample("simkube.mp", "openb-nodes.csv")
    assert keys(result)[-1] == "Deployment shop/web"
    simulation = run(result)
    pods = [obj for obj in simulation.stored_objects() if isinstance(obj, Pod)]
    assert len(pods) == 3
    assert all(pod.spec.node_name for pod in pods)
    with pytest.raises(UnreadableFile, match="not a SimKube trace, or it is truncated"):
        imported((SAMPLES / "simkube.mp").read_bytes()[:-40])


def test_two_recordings_are_refused_as_one_session() -> None:
    result = sample("kwok-recording.yaml", "simulator-record.jsonl")
    assert [file.message.partition(": ")[2] for file in result.report.refused] == [
        "there is already another recording. Import one recording at a time."
    ]


def test_a_refused_recording_leaves_no_configuration() -> None:
    configuration = b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n---\n"
    recording = (SAMPLES / "kwok-recording.yaml").read_bytes()

    result = load([source(recording, "first.yaml"), source(configuration + recording, "second.yaml")])

    assert [file.message.partition(": ")[0] for file in result.report.refused] == ["second.yaml"]
    assert result.report.configuration == ""
    assert result.trace is not None
    assert result.trace.config is None


def test_openb_pods_are_in_order_of_creation() -> None:
    result = sample("openb-nodes.csv", "openb-pods.csv")
    assert keys(result) == ["Node openb-node-0000", "Node openb-node-0021", "Pod openb/openb-pod-0000", "Pod openb/openb-pod-0001"]
    first, second = [obj for obj in result.objects if isinstance(obj, Pod)]
    requests = first.spec.containers[0].resources.requests
    assert {name: str(amount) for name, amount in requests.items()} == {
        "cpu": "12",
        "memory": "16Gi",
        "alibabacloud.com/gpu-milli": "2k",
    }
    assert (first.spec.priority, second.spec.priority) == (0, 200)
    assert first.spec.affinity is not None
    with pytest.raises(IngestError, match=r"line 2: .*a column is missing or is not a number"):
        imported("sn,cpu_milli,memory_mib,gpu,model\nn,many,1,0,\n")


def packed_tar(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def packed_zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def gathered() -> dict[str, bytes]:
    folder = SAMPLES / "must-gather"
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "pack", [packed_tar, lambda files: packed_tar(files, "w:xz"), lambda files: packed_tar(files, "w"), packed_zip, None]
)
def test_a_must_gather_is_a_folder_or_an_archive_of_it(pack: Callable[[dict[str, bytes]], bytes] | None) -> None:
    sources = files_of([SAMPLES / "must-gather"]) if pack is None else [Source.of_bytes("gathered", pack(gathered()))]
    result = load(sources)
    assert keys(result) == CLUSTER
    assert [(len(log.signals), log.signals[0].seconds) for log in result.logs] == [(1, 1704067225.0)]
    assert not result.report.refused
    assert [(drop.kind, drop.reason) for drop in result.report.dropped] == [("File", "its format is unknown")]


def test_an_archive_of_archives_is_read_and_a_deeper_one_is_not() -> None:
    inner = packed_tar(gathered())
    assert keys(imported(packed_zip({"must-gather.tar.gz": inner}))) == CLUSTER
    deep: dict[str, bytes] = {"a.zip": packed_zip({"b.zip": packed_zip({"c.tar.gz": inner})})}
    with pytest.raises(UnreadableFile, match="more than 2 deep"):
        imported(packed_zip(deep))


def test_the_newer_version_of_an_object_is_kept_whatever_the_order_of_the_files() -> None:
    def node(version: str, cpu: str) -> str:
        return (
            f'{{"kind":"Node","metadata":{{"name":"a","uid":"u","resourceVersion":"{version}"}},"status":{{"capacity":{{"cpu":"{cpu}"}}}}}}'
        )

    for files in ((node("9", "4"), node("10", "8")), (node("10", "8"), node("9", "4"))):
        result = imported(*files)
        assert [str(obj.status.capacity["cpu"]) for obj in result.objects] == ["8"]  # type: ignore[union-attr]
    assert result.origins == ("dump-1",)
    assert [file.objects for file in result.report.files] == [1, 0]


def test_files_of_all_formats_can_be_mixed_and_each_object_has_its_origin() -> None:
    result = sample("cluster-info-dump.txt", "openb-nodes.csv", "sigusr2/01-plain/scheduler.log", "events.txt")
    by_file: dict[str, list[str]] = {}
    for obj, origin in zip(result.objects, result.origins, strict=True):
        by_file.setdefault(Path(origin).name, []).append(obj.key)
    assert by_file == {
        "cluster-info-dump.txt": ["node-1", "node-2", "shop/web-1", "shop/web-2"],
        "openb-nodes.csv": ["openb-node-0000", "openb-node-0021"],
    }
    assert len(result.logs) == 2


def test_a_strategic_merge_patch_merges_lists_by_names() -> None:
    value: dict[str, Any] = {"a": 1, "c": [{"name": "x", "v": 1}, {"name": "y"}], "l": [1]}
    patch = {"a": None, "c": [{"name": "x", "w": 2}, {"name": "y", "$patch": "delete"}, {"name": "z"}], "l": [2], "$setElementOrder/c": []}
    assert merged(value, patch) == {"c": [{"name": "x", "v": 1, "w": 2}, {"name": "z"}], "l": [2]}


PODS_WIDE = """\
NAMESPACE   NAME     READY   STATUS    RESTARTS        AGE   IP          NODE     NOMINATED NODE   READINESS GATES
shop        web-1    1/1     Running   2 (3m ago)      9d    10.0.0.7    n1       <none>           <none>
shop        web-2    0/1     Pending   0               5m    <none>      <none>   <none>           <none>
"""
NODES_WIDE = """\
NAME   STATUS                     ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE   KERNEL-VERSION   CONTAINER-RUNTIME
n1     Ready                      <none>   9d    v1.30.1   10.0.0.1      <none>        Some OS    6.1              containerd://1.7
n2     Ready,SchedulingDisabled   <none>   9d    v1.30.1   10.0.0.2      <none>        Some OS    6.1              containerd://1.7
n3     NotReady                   <none>   9d    v1.30.1   10.0.0.3      <none>        Some OS    6.1              containerd://1.7
"""


@pytest.mark.parametrize(
    "text",
    [
        PODS_WIDE + "\n" + NODES_WIDE,
        f"me@host:~$ kubectl get pods -A -o wide\n{PODS_WIDE}me@host:~$ kubectl get nodes -o wide\n{NODES_WIDE}",
    ],
    ids=["tables", "a terminal"],
)
def test_tables_show_which_pods_wait_and_which_nodes_are_unschedulable(text: str) -> None:
    with pytest.raises(IngestError) as refused:
        imported(text)

    assert "Pending: web-2. The reason is in the events of `kubectl describe pod web-2 -n shop`." in str(refused.value)
    assert "Of its 3 nodes, 2 take no new pods: n2 (Ready,SchedulingDisabled), n3 (NotReady)." in str(refused.value)


def test_nodes_and_pods_of_different_clusters_are_reported() -> None:
    nodes = [{"kind": "Node", "metadata": {"name": name}} for name in ("a-1", "a-2", "a-3")]
    pods = [
        {"kind": "Pod", "metadata": {"name": f"p{number}"}, "spec": {"nodeName": f"b-{number % 2}", "containers": []}}
        for number in range(4)
    ]

    report = load([Source.of_bytes("nodes", json.dumps(nodes).encode()), Source.of_bytes("pods", json.dumps(pods).encode())]).report

    assert report.warnings[0].startswith("The nodes and the pods appear to come from different clusters: 4 pods are bound to 2 nodes")
    pods[0]["spec"]["nodeName"] = "a-1"
    mixed = load([Source.of_bytes("nodes", json.dumps(nodes).encode()), Source.of_bytes("pods", json.dumps(pods).encode())]).report
    assert mixed.warnings[0].startswith("3 pods are bound to nodes that are not in the files")


def test_a_text_about_pods_that_the_objects_lack_is_named_but_not_the_events_of_a_dump() -> None:
    said = "Name: {}\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  0/1 nodes are available: 1 Insufficient cpu.\n"
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "shop"},
        "reason": "FailedScheduling",
        "message": "0/1 nodes are available: 1 Insufficient cpu.",
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "deleted"},
    }
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"containers": []}}
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod, event]})
    lacking = "The objects do not include shop/db, mentioned in dump-2."
    assert imported(dump, said.format("db")).report.warnings[0].startswith(lacking)
    assert not any("do not include" in warning for warning in imported(dump, said.format("web")).report.warnings)
