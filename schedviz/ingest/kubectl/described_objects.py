"""Makes objects of the output of `kubectl describe nodes` and `kubectl describe pods`, as far as that goes.

It has labels, taints, allocatable amounts, requests, node selectors, tolerations and claims. It lacks affinity and topology spread
constraints, and of the pods in a node's table everything but their requests of CPU and memory. What these pods request of other resources
is the node's total, which one more pod has. `described_storage.py` reads volumes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from schedviz.kube.quantity import parse
from schedviz.kube.text_facts import DescribedNode

#: The first line of a described object.
_START: Final = re.compile(r"^Name:[ \t]++(\S++)[ \t]*+$", re.MULTILINE)
_IS_NODE: Final = re.compile(r"^Allocatable:[ \t]*+$", re.MULTILINE)
#: A line near the beginning of a node's description only.
_BEGINS_NODE: Final = re.compile(r"^Roles:[ \t]", re.MULTILINE)
_IS_POD: Final = re.compile(r"^(?:Init )?Containers:[ \t]*+$", re.MULTILINE)
#: The condition of a node that is not ready, after two times.
_UNREADY: Final = re.compile(
    r"^[ \t]++Ready[ \t]++(?:False|Unknown)[ \t]++[^\n]{20,80}? [+-]\d{4}[ \t]++[A-Z]\w++[ \t]++(?P<message>[^\n]{1,500})",
    re.MULTILINE,
)
#: A line near the end of a pod's description.
_SELECTS: Final = re.compile(r"^Node-Selectors:[ \t]", re.MULTILINE)
_FIELD: Final = re.compile(r"^([A-Z][A-Za-z. -]{0,60}?):(.*+)$")
#: A row of a node's pods: `  kube-system   coredns-1   100m (1%)   0 (0%)   70Mi (0%)   170Mi (0%)   5d`.
_ROW: Final = re.compile(r"^\s++(\S++)\s++(\S++)\s++(\S++) \(\d++%\)\s++\S++ \(\d++%\)\s++(\S++) \(\d++%\)\s++")
#: A row of what a node's pods request in total: `  cpu   950m (5%)   100m (0%)`, `  nvidia.com/gpu   1   1`.
_ALLOCATED: Final = re.compile(
    r"^\s++(?P<resource>[a-z0-9][a-zA-Z0-9./-]*+)\s++(?P<requests>\d{1,18}(?:\.\d{1,9})?(?:m|[KMGTPE]i?|k)?)(?: \(\d++%\))?\s++\S"
)
_AMOUNT: Final = re.compile(r"\d{1,18}(?:\.\d{1,9})?(?:m|[KMGTPE]i?|k)?")
#: Resources that a node's list of pods has, and those that kubectl prints in total but does not count as requests.
_LISTED: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
#: The priority of pods that stand for others: preemption evicts none of them, because it is not known which one that would be.
_NEVER_A_VICTIM: Final = 2_000_001_000
_TOLERATION: Final = re.compile(
    r"^(?P<key>[^\s=:]*+)(?:=(?P<value>[^\s:]*+))?(?::(?P<effect>[A-Za-z]++))?"
    r"(?: ?op=(?P<operator>[A-Za-z]++))?(?: for (?P<seconds>[0-9]{1,18}+)s)?$"
)
#: The kind of the owner of pods that exist once for each node.
_PER_NODE: Final = "DaemonSet"
#: Numbers that fit the fields of the API.
_PRIORITY: Final = re.compile(r"-?[0-9]{1,10}")
_PORT: Final = re.compile(r"[0-9]{1,5}")
#: Effects of taints that keep new pods off a node.
_KEEPING_OFF: Final = frozenset({"NoSchedule", "NoExecute"})
_NONE: Final = frozenset({"", "<none>", "<unset>"})

Fields = dict[str, list[str]]


def has_nodes(text: str) -> bool:
    """Whether a text has a described node, without which described pods cannot be simulated."""
    return _IS_NODE.search(text) is not None


def described_nodes(text: str) -> Iterator[DescribedNode]:
    """The described nodes, in order."""
    for part in _parts(text):
        if _BEGINS_NODE.search(part) is None:
            continue
        fields = _fields(part)
        taints = [taint for text in texts_of(fields, "Taints") if (taint := _taint(text))["effect"] in _KEEPING_OFF]
        pairs_ = ["=".join(filter(None, (taint["key"], taint["value"]))) for taint in taints]
        whole = (f"{pair}:{taint['effect']}" for pair, taint in zip(pairs_, taints, strict=True))
        unready = _UNREADY.search(part)
        yield DescribedNode(
            text_of(fields, "Name"),
            tuple(pairs_),
            tuple(whole),
            text_of(fields, "Unschedulable") == "true",
            unready["message"].strip() if unready is not None else "",
        )


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The described nodes, the pods on them, and the described pods, each once."""
    nodes = [_fields(part) for part in _parts(text) if _IS_NODE.search(part)]
    pods = list(pods_in(text))
    described = {(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in pods}
    for fields in nodes:
        listed = list(_pods_on(fields))
        others = _others_on(fields, pods, has_list=bool(listed))
        yield _node(fields, more_pods=len(others) if listed else 0)
        yield from (pod for pod in listed if (pod["metadata"]["namespace"], pod["metadata"]["name"]) not in described)
        yield from others
    yield from pods


def pods_in(text: str) -> Iterator[dict[str, Any]]:
    """The described pods, in order."""
    return (_pod(_fields(part)) for part in _parts(text) if _IS_POD.search(part) and not _IS_NODE.search(part))


def described_fields(text: str) -> Iterator[Fields]:
    """The fields of all described objects, in order."""
    return (_fields(part) for part in _parts(text))


def pod_without_head(text: str) -> dict[str, Any] | None:
    """The pod whose description lacks its beginning, with the name that it has for texts without names; None if there is none."""
    if _START.search(text) is not None or _SELECTS.search(text) is None:
        return None
    content = _pod(_fields(text))
    return {**content, "metadata": {**content["metadata"], "name": "unnamed"}}


def _parts(text: str) -> Iterator[str]:
    """The descriptions in a text."""
    starts = [match.start() for match in _START.finditer(text)]
    return (text[start:end] for start, end in itertools.pairwise((*starts, len(text))))


def _fields(part: str) -> Fields:
    """The fields of an object: what follows their names, and the indented lines below."""
    fields: Fields = {}
    lines: list[str] = []
    for line in part.split("\n"):
        field = _FIELD.match(line)
        if field is not None:
            lines = fields.setdefault(field[1], [])
            if field[2].strip():
                lines.append(field[2])
        elif line[:1].isspace() and line.strip():
            lines.append(line)
    return fields


def _node(fields: Fields, *, more_pods: int) -> dict[str, Any]:
    """The node. `more_pods`: the pods that stand for what its listed pods request, which must not count against its maximum."""
    allocatable = pairs(fields.get("Allocatable", ()), ":")
    if more_pods and allocatable.get("pods", "").isdecimal():
        allocatable["pods"] = str(int(allocatable["pods"]) + more_pods)
    taints = [_taint(text) for text in texts_of(fields, "Taints")]
    info = pairs(fields.get("System Info", ()), ":")
    spec: dict[str, Any] = {"taints": taints}
    if text_of(fields, "Unschedulable") == "true":
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": text_of(fields, "Name"), "labels": pairs(texts_of(fields, "Labels"), "=")},
        "spec": spec,
        "status": {
            "allocatable": allocatable,
            "nodeInfo": {"kubeletVersion": info.get("Kubelet Version", "")},
        },
    }


def _taint(text: str) -> dict[str, str]:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _pods_on(fields: Fields) -> Iterator[dict[str, Any]]:
    """The pods of a node's table, with their requests of CPU and memory."""
    for line in fields.get("Non-terminated Pods", ()):
        if (row := _ROW.match(line)) is not None:
            requests = {"cpu": row[3], "memory": row[4]}
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"namespace": row[1], "name": row[2]},
                "spec": {"nodeName": text_of(fields, "Name"), "containers": [{"name": "all", "resources": {"requests": requests}}]},
                "status": {"phase": "Running"},
            }


def _others_on(fields: Fields, pods: Iterable[dict[str, Any]], *, has_list: bool) -> list[dict[str, Any]]:
    """A pod with what the node's pods request in total, as far as no described or listed pod has it; empty: nothing is left.

    Of the pods in the node's list only CPU and memory are known, so the list has the rest of those (`has_list`).
    """
    left = {}
    for line in fields.get("Allocated resources", ()):
        if (row := _ALLOCATED.match(line)) is not None and not (has_list and row["resource"] in _LISTED):
            left[row["resource"]] = parse(row["requests"])
    node = text_of(fields, "Name")
    for pod in pods:
        if pod["spec"].get("nodeName") == node:
            for container in pod["spec"].get("containers", ()):
                for resource, amount in container["resources"]["requests"].items():
                    if resource in left and _AMOUNT.fullmatch(amount):
                        left[resource] = left[resource].minus(parse(amount))
    requests = {resource: str(amount) for resource, amount in left.items() if amount.value > 0}
    if not requests:
        return []
    spec = {"nodeName": node, "priority": _NEVER_A_VICTIM, "containers": [{"name": "all", "resources": {"requests": requests}}]}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": "default", "name": f"other-pods-on-{node}"[:253].rstrip(".-")},
            "spec": spec,
            "status": {"phase": "Running"},
        }
    ]


def _pod(fields: Fields) -> dict[str, Any]:
    node = text_of(fields, "Node").partition("/")[0]
    spec: dict[str, Any] = {
        "containers": _containers(fields.get("Containers", ())),
        "initContainers": _containers(fields.get("Init Containers", ())),
        "nodeSelector": pairs(texts_of(fields, "Node-Selectors"), "="),
        "tolerations": [toleration for text in texts_of(fields, "Tolerations") if (toleration := _toleration(text))],
        "volumes": list(_claims(fields.get("Volumes", ()))),
    }
    if node:
        spec["nodeName"] = node
    if _PRIORITY.fullmatch(priority := text_of(fields, "Priority")):
        spec["priority"] = int(priority)
    kind, _, owner = text_of(fields, "Controlled By").partition("/")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": text_of(fields, "Name"),
            "namespace": text_of(fields, "Namespace") or "default",
            "labels": pairs(texts_of(fields, "Labels"), "="),
            # Pods of a DaemonSet differ from all others: each belongs to one node.
            **(
                {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "controller": True}]}
                if kind == _PER_NODE
                else {}
            ),
        },
        "spec": {name: value for name, value in spec.items() if value not in ([], {})},
        "status": {"phase": text_of(fields, "Status") or "Pending"},
    }


def _containers(lines: Sequence[str]) -> list[dict[str, Any]]:
    """The containers of a pod: their names have the smallest indent, `Requests:` one more, the amounts two more."""
    containers: list[dict[str, Any]] = []
    smallest = min((_indent(line) for line in lines), default=0)
    section, depth = "", 0
    for line in lines:
        name, _, value = line.strip().partition(":")
        value = value.strip()
        if _indent(line) == smallest:
            containers.append({"name": name, "resources": {"requests": {}, "limits": {}}, "ports": []})
            section = ""
        elif containers and not value and name in ("Requests", "Limits"):
            section, depth = name.lower(), _indent(line)
        elif containers and section and _indent(line) > depth:
            containers[-1]["resources"][section][name] = value
        else:
            section = ""
            if containers and name == "Image":
                containers[-1]["image"] = value
            elif containers and name in ("Host Port", "Host Ports"):
                containers[-1]["ports"] += _host_ports(value)
    return containers


def _host_ports(text: str) -> Iterator[dict[str, Any]]:
    for port in text.split(", "):
        number, _, protocol = port.partition("/")
        if _PORT.fullmatch(number) and int(number):
            yield {"containerPort": int(number), "hostPort": int(number), "protocol": protocol.split(" ")[0] or "TCP"}


def _claims(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        name, _, value = line.strip().partition(":")
        if name == "ClaimName":
            yield {"name": value.strip(), "persistentVolumeClaim": {"claimName": value.strip()}}


def _toleration(text: str) -> dict[str, Any] | None:
    match = _TOLERATION.match(text)
    if match is None:
        return None
    operator = match["operator"] or ("Equal" if match["value"] is not None else "Exists")
    made: dict[str, Any] = {"key": match["key"], "operator": operator, "value": match["value"] or "", "effect": match["effect"] or ""}
    return made | ({"tolerationSeconds": int(match["seconds"])} if match["seconds"] else {})


def text_of(fields: Fields, name: str) -> str:
    """A field of one line; "" if there is none."""
    return next(iter(texts_of(fields, name)), "")


def texts_of(fields: Fields, name: str) -> list[str]:
    """The lines of a field."""
    return [text for line in fields.get(name, ()) if (text := line.strip()) not in _NONE]


def pairs(lines: Iterable[str], between: str) -> dict[str, str]:
    """Names and values, one of each on a line."""
    pairs = (line.strip().partition(between) for line in lines)
    return {key: value.strip() for key, sign, value in pairs if sign}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
