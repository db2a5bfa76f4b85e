"""Generates samples: `python tests/samples/make.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent


def node(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "uid": f"uid-{name}", "resourceVersion": "7"},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(name: str, cpu: str = "500m", node_name: str = "", **metadata: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "pause", "resources": {"requests": {"cpu": cpu}}}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": "8", **metadata},
        "spec": {**spec, **({"nodeName": node_name} if node_name else {})},
        "status": {"phase": "Running" if node_name else "Pending"},
    }


def bare(obj: dict[str, Any]) -> dict[str, Any]:
    """As an item of a typed list: without kind and version."""
    return {name: member for name, member in obj.items() if name not in ("apiVersion", "kind")}


NODES = [node("node-1"), node("node-2")]
PODS = [pod("web-1", node_name="node-1"), pod("web-2", cpu="6")]
MESSAGE = "0/2 nodes are available: 2 Insufficient cpu."


def cluster_info() -> str:
    lists = [
        {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": [bare(each) for each in NODES]},
        {"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": [bare(event())]},
        {"kind": "DaemonSetList", "apiVersion": "apps/v1", "metadata": {}, "items": [{"metadata": {"name": "proxy", "namespace": "shop"}}]},
        {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [bare(each) for each in PODS]},
    ]
    log = (HERE / "sigusr2" / "01-plain" / "scheduler.log").read_text()
    logs = [("web", "shop/web-1", '{"kind":"Pod"}\n[not JSON\n'), ("kube-scheduler", "kube-system/kube-scheduler-1", log)]
    text = "\n".join(json.dumps(kubectl_list, indent=4) for kubectl_list in lists) + "\n"
    for container, key, lines in logs:
        text += f"==== START logs for container {container} of pod {key} ====\n{lines}==== END logs for container {container} of pod {key} ====\n"
    return text


def event() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web-2.17", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-2"},
        "reason": "FailedScheduling",
        "message": MESSAGE,
        "lastTimestamp": "2024-01-01T00:00:05Z",
        "type": "Warning",
    }


def simulator_export() -> dict[str, Any]:
    results = {"node-1": {"NodeName": "passed", "NodeResourcesFit": "Insufficient cpu"}, "node-2": {"NodeResourcesFit": "Insufficient cpu"}}
    annotated = pod("web-2", cpu="6", annotations={"scheduler-simulator/filter-result": json.dumps(results)})
    return {
        "pods": [bare(PODS[0]), bare(annotated)],
        "nodes": [bare(each) for each in NODES],
        "pvs": [],
        "pvcs": None,
        "storageClasses": [],
        "priorityClasses": [],
        "schedulerConfig": {
            "kind": "KubeSchedulerConfiguration",
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "leaderElection": {"leaderElect": True},
            "profiles": [{"schedulerName": "default-scheduler"}],
        },
        "namespaces": [{"metadata": {"name": "shop"}}],
    }


def simulator_record() -> str:
    late = pod("late", cpu="1")
    bound = pod("late", cpu="1", node_name="node-2")
    records = [
        *(("2024-01-01T00:00:00Z", "Add", each) for each in (*NODES, PODS[0])),
        ("2024-01-01T00:00:10Z", "Add", late),
        ("2024-01-01T00:00:11Z", "Update", bound),
        ("2024-01-01T00:00:20Z", "Update", node("node-2", cpu="8")),
        ("2024-01-01T00:00:30Z", "Delete", bound),
    ]
    return "".join(json.dumps({"time": time, "event": what, "resource": each}) + "\n" for time, what, each in records)


def kwok() -> str:
    def action(seconds: float, method: str, kind: str, name: str, template: dict[str, Any] | None = None) -> str:
        document: dict[str, Any] = {
            "apiVersion": "action.kwok.x-k8s.io/v1alpha1",
            "kind": "ResourcePatch",
            "resource": {"version": "v1", "resource": kind},
            "target": {"name": name, **({"namespace": "shop"} if kind == "pods" else {})},
            "durationNanosecond": int(seconds * 1e9),
            "method": method,
        }
        return json.dumps(document if template is None else {**document, "template": template})

    late = pod("late", cpu="1")
    documents = [
        *(json.dumps(each) for each in (*NODES, PODS[0])),
        action(10, "create", "pods", "late", bare(late)),
        action(11, "patch", "pods", "late", {"spec": {"nodeName": "node-2"}, "status": {"phase": "Running"}}),
        action(20, "patch", "nodes", "node-2", {"status": {"allocatable": {"cpu": "8"}}}),
        action(25, "patch", "events", "noise", {"reason": "x"}),
        action(30, "delete", "pods", "late"),
    ]
    return "\n---\n".join(documents) + "\n"


def simkube() -> bytes:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": PODS[0]["spec"] | {"nodeName": ""}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    more = {**deployment, "spec": {**deployment["spec"], "replicas": 3}}
    trace = {
        "version": 2,
        "config": {"trackedObjects": {"apps/v1.Deployment": {"podSpecTemplatePaths": ["/spec/template"]}}},
        "events": [
            {"ts": 1700000000, "applied_objs": [deployment], "deleted_objs": []},
            {"ts": 1700000060, "applied_objs": [more], "deleted_objs": []},
        ],
        "index": {},
        "pod_lifecycles": {},
    }
    return msgspec.msgpack.encode(trace)


def must_gather() -> dict[str, str]:
    """Objects one by one and in lists, logs of containers with a time before each line."""
    log = (HERE / "sigusr2" / "01-plain" / "scheduler.log").read_text()
    stamped = "".join(f"2024-01-01T00:00:25.000000000Z {line}\n" for line in log.splitlines())
    return {
        **{
            f"cluster-scoped-resources/core/nodes/{each['metadata']['name']}.yaml": f"---\n{json.dumps(each, indent=1)}\n" for each in NODES
        },
        "namespaces/shop/core/pods.yaml": f"---\n{json.dumps({'apiVersion': 'v1', 'kind': 'PodList', 'items': PODS}, indent=1)}\n",
        "namespaces/kube-system/pods/kube-scheduler-1/kube-scheduler/logs/current.log": stamped,
        "namespaces/shop/pods/web-2/web/logs/current.log": "a line of somebody else's log\n",
        "version": "must-gather v4.13\n",
    }


def main() -> None:
    (HERE / "cluster-info-dump.txt").write_text(cluster_info())
    (HERE / "events.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [event()]}, indent=2) + "\n")
    (HERE / "simulator-export.json").write_text(json.dumps(simulator_export(), indent=1) + "\n")
    (HERE / "simulator-record.jsonl").write_text(simulator_record())
    (HERE / "kwok-recording.yaml").write_text(kwok())
    (HERE / "simkube.mp").write_bytes(simkube())
    for path, text in must_gather().items():
        file = HERE / "must-gather" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (HERE / "openb-nodes.csv").write_text(
        "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0000,32000,262144,0,\nopenb-node-0021,64000,262144,2,P100\n"
    )
    columns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    rows = (
        "openb-pod-0001,6000,12288,1,460,,LS,Running,300,400,310\nopenb-pod-0000,12000,16384,2,1000,P100|V100M16,BE,Running,100,400,100.0\n"
    )
    (HERE / "openb-pods.csv").write_text(columns + rows)
    (HERE / "events.txt").write_text(
        "NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n"
        f"shop        5m12s       Warning   FailedScheduling   pod/web-2   {MESSAGE}\n"
        "shop        4m          Normal    Scheduled          pod/web-1   Successfully assigned shop/web-1 to node-1\n"
    )
    (HERE / "describe.txt").write_text(
        "Name:             web-2\nNamespace:        shop\nPriority:         0\nNode:             <none>\nLabels:           app=web\n"
        "Status:           Pending\nEvents:\n  Type     Reason            Age    From               Message\n"
        f"  ----     ------            ----   ----               -------\n  Warning  FailedScheduling  5m12s  default-scheduler  {MESSAGE}\n"
    )


if __name__ == "__main__":
    main()
