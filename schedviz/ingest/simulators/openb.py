"""Reads the CSV files of openb (Alibaba's cluster-trace-gpu-v2023): a node list and pod lists.

A node's GPUs become two resources, `alibabacloud.com/gpu-count` and `alibabacloud.com/gpu-milli`. Pods request thousandths, so GPUs can be
shared, but single GPUs are not distinguished. Nodes are assigned to three zones in turn. All pods are pending, in the order of creation.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Final

from schedviz.ingest.errors import BadObjects, LimitExceeded, Problem
from schedviz.ingest.limits import Limits
from schedviz.ingest.reader import Item
from schedviz.kube import timestamps

_NODES: Final = "sn,cpu_milli,memory_mib,gpu"
_PODS: Final = "name,cpu_milli,memory_mib,num_gpu,gpu_milli"
_MILLI: Final = "alibabacloud.com/gpu-milli"
_COUNT: Final = "alibabacloud.com/gpu-count"
_MODEL: Final = "alibabacloud.com/gpu-card-model"
#: 2023-01-01, which is used as the trace's second 0.
_START_SECONDS: Final = 1_672_531_200
_PRIORITIES: Final = {"LS": 200, "Burstable": 100}
_ZONES: Final = "abc"


class OpenbReader:
    """Reads a node list or a pod list."""

    format = "openb csv"

    def recognises(self, text: bytes) -> bool:
        """Whether the first line names the columns."""
        return _columns(text).startswith((_NODES, _PODS))

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item]:
        """The nodes or pods."""
        rows = csv.DictReader(io.StringIO(text.decode()), strict=True)
        make = _node if _columns(text).startswith(_NODES) else _pod
        made: list[tuple[float, int, dict[str, Any]]] = []
        try:
            for number, row in enumerate(rows):
                if number >= limits.objects:
                    raise LimitExceeded(name, "there are too many rows", "objects", limits.objects)
                made.append((_seconds(row), number, make(number, row)))
        except (ValueError, TypeError, KeyError, csv.Error) as error:
            raise BadObjects([Problem(name, f"a column is missing or is not a number ({error})", line=rows.line_num)]) from None
        for _, number, content in sorted(made, key=lambda entry: entry[:2]):
            yield Item(document=1, path=f"[{number}]", content=content, total=len(made))

    def documents(self, _text: bytes) -> int:
        """A CSV file is one document."""
        return 1

    def line_of(self, _text: bytes, _document: int, path: str) -> int:
        """The line number of a row. Rows have one line each."""
        return int(path[1 : path.index("]")]) + 2 if path.startswith("[") and "]" in path else 0


def _columns(text: bytes) -> str:
    return text[:200].partition(b"\n")[0].decode("ascii", "replace").strip().replace(" ", "")


def _seconds(row: dict[str, str]) -> float:
    return float(row.get("creation_time") or 0)


def _node(number: int, row: dict[str, str]) -> dict[str, Any]:
    gpus = int(row["gpu"])
    amounts = {
        "cpu": f"{int(row['cpu_milli'])}m",
        "memory": f"{int(row['memory_mib'])}Mi",
        "pods": "110",
        _COUNT: str(gpus),
        _MILLI: str(gpus * 1000),
    }
    name = row["sn"].strip()
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"openb-zone-{_ZONES[number % len(_ZONES)]}"}
    model = (row.get("model") or "").strip()
    if model:
        labels[_MODEL] = model
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _pod(_number: int, row: dict[str, str]) -> dict[str, Any]:
    requests = {"cpu": f"{int(row['cpu_milli'])}m", "memory": f"{int(row['memory_mib'])}Mi"}
    gpus = int(row["num_gpu"] or 0)
    if gpus:
        requests[_MILLI] = str(gpus * int(row["gpu_milli"] or 1000))
    qos = (row.get("qos") or "").strip()
    spec: dict[str, Any] = {
        "priority": _PRIORITIES.get(qos, 0),
        "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.9", "resources": {"requests": requests}}],
    }
    models = [model for model in (row.get("gpu_spec") or "").split("|") if model]
    if models:
        terms = [{"matchExpressions": [{"key": _MODEL, "operator": "In", "values": models}]}]
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    labels = {"app": "openb", **({"qos": qos} if qos else {})}
    made = timestamps.format_timestamp(_START_SECONDS + _seconds(row))
    metadata = {"name": row["name"].strip(), "namespace": "openb", "labels": labels, "creationTimestamp": made}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
