"""GPU sharing: how much of each GPU of each node is free. The policies of `gpu_policies` build on it.

A pod requests thousandths of a GPU in all, `alibabacloud.com/gpu-milli`: below 1000 a share of one GPU, otherwise whole GPUs.
kube-scheduler sees only the sums of a node. This plugin keeps the free thousandths of every GPU, filters by them, and assigns GPUs at
Reserve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle, ObjectVerb, Scores
from schedviz.engine.framework.node_table import NodeTable
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, unschedulable
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject

MILLI = "alibabacloud.com/gpu-milli"
COUNT = "alibabacloud.com/gpu-count"
MODEL = "alibabacloud.com/gpu-card-model"
#: A whole GPU, in thousandths.
WHOLE = 1000
#: The GPUs of the largest node.
MAX_GPUS = 8

Amounts = npt.NDArray[np.int64]

_LACKS_GPUS = unschedulable("node(s) didn't have enough free GPUs")


class Request(NamedTuple):
    """What a pod requests: `gpus` GPUs, `milli` thousandths of each. Pods with equal requests have equal scores."""

    cpu: int
    gpus: int
    milli: int
    #: The models that the pod accepts; empty: all.
    models: tuple[str, ...] = ()

    @property
    def is_share(self) -> bool:
        """Whether the pod uses a part of one GPU."""
        return 0 < self.milli < WHOLE

    @property
    def kind(self) -> int:
        """The number of whole GPUs; 0: a share of one, or none."""
        return self.gpus if self.milli == WHOLE else 0

    @classmethod
    def of(cls, pod: PodInfo) -> Request:
        """The request of a pod."""
        amounts = pod.requests.resource
        total = amounts.scalar.get(MILLI, 0)
        gpus, milli = (1, total) if 0 < total < WHOLE else (-(-total // WHOLE), WHOLE if total else 0)
        return cls(amounts.milli_cpu, gpus, milli, _models(pod.pod))


def _models(pod: Pod) -> tuple[str, ...]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required if affinity else None
    for term in required.node_selector_terms if required else ():
        for expression in term.match_expressions:
            if expression.key == MODEL and expression.operator == "In":
                return tuple(sorted(expression.values))
    return ()


class Nodes(NamedTuple):
    """Some nodes, one row each."""

    #: Free thousandths, shape (nodes, MAX_GPUS); 0 where a node has fewer GPUs.
    free: Amounts
    gpus: Amounts
    #: Pods by their kind, shape (nodes, MAX_GPUS + 1).
    pods: Amounts
    #: Free milli-cpus.
    cpu: Amounts
    #: The rows of the plugin's table.
    rows: Amounts
    names: list[str]


class GpuSharing:
    """Filters by free GPUs, and assigns them. A policy overrides `scores`, and `choose` if it cares which GPU a share is taken from."""

    name = "GpuSharing"
    #: Pods that are deleted or finish give their GPUs back, and pods that were bound before have some.
    watched_kinds = ("Pod",)

    def __init__(self, args: dict[str, Any] | None, handle: Handle) -> None:
        self.args = args or {}
        self.handle = handle
        self.nodes = NodeTable(_initial, free=MAX_GPUS, gpus=0, pods=MAX_GPUS + 1)
        #: Pod -> its row, its GPUs, and the thousandths of each.
        self._assigned: dict[str, tuple[int, list[int], int]] = {}
        #: Pods that were bound before, whose GPUs nobody knows, and their nodes.
        self._bound: dict[str, tuple[str, int, int]] = {}

    # --- a policy

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002 - policies use them
        """A score from 0 to 100 for each node."""
        return np.zeros(len(nodes.cpu), np.int64)

    def choose(self, request: Request, node: Nodes, pod: PodInfo) -> int:  # noqa: ARG002
        """The GPU of the node (one row) that a share is taken from: the fullest one with room."""
        free = node.free[0]
        return int(np.where(free >= request.milli, free, WHOLE + 1).argmin())

    # --- the extension points

    def filter(self, _state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        request = Request.of(pod)
        if not request.gpus:
            return None
        self._place_bound_pods()
        enough = (self.nodes.take("free", rows) >= request.milli).sum(axis=1) >= request.gpus
        return Verdicts.reject(~enough, _LACKS_GPUS)

    def score(self, _state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        free, gpus, pods = (self.nodes.take(column, rows) for column in ("free", "gpus", "pods"))
        cpu = rows.allocatable("cpu") - rows.requested("cpu")
        nodes = Nodes(free, gpus, pods, cpu, self.nodes.rows(rows), list(rows.names))
        return self.scores(Request.of(pod), nodes, pod)

    def reserve(self, _state: CycleState, pod: PodInfo, node_name: str) -> Status:
        request = Request.of(pod)
        if not request.gpus:
            return SUCCESS
        node = self._node(self.handle.snapshot.node_info_map[node_name])
        whole: list[int] = np.flatnonzero(node.free[0] == WHOLE)[: request.gpus].tolist()
        chosen = [self.choose(request, node, pod)] if request.is_share else whole
        if len(chosen) < request.gpus:
            return _LACKS_GPUS
        self._assign(pod.key, int(node.rows[0]), chosen, request.milli)
        return SUCCESS

    def unreserve(self, _state: CycleState, pod: PodInfo, _node_name: str) -> None:
        self._release(pod.key)

    def object_changed(self, verb: ObjectVerb, obj: KubeObject) -> None:
        if not isinstance(obj, Pod):
            return
        if verb == "DELETED" or obj.status.phase in ("Succeeded", "Failed"):
            self._release(obj.key)
            self._bound.pop(obj.key, None)
        elif obj.spec.node_name and obj.key not in self._assigned:
            request = Request.of(PodInfo(obj))
            if request.gpus:
                self._bound[obj.key] = (obj.spec.node_name, request.gpus, request.milli)

    # --- state between pods

    def to_state(self, _number: Callable[[KubeObject], int]) -> Any:
        return {"nodes": self.nodes.to_state(), "assigned": self._assigned, "bound": self._bound}

    def load(self, state: Any, _find: Callable[[str, int], KubeObject]) -> None:
        self.nodes.load(state["nodes"])
        self._assigned = {key: (row, list(chosen), milli) for key, (row, chosen, milli) in state["assigned"].items()}
        self._bound = {key: tuple(bound) for key, bound in state["bound"].items()}

    def _node(self, info: NodeInfo) -> Nodes:
        row = self.nodes.row(info)
        rows, table = np.array([row]), self.nodes
        cpu = np.array([info.allocatable.milli_cpu - info.requested.milli_cpu])
        return Nodes(table["free"][rows], table["gpus"][rows], table["pods"][rows], cpu, rows, [info.name])

    def _place_bound_pods(self) -> None:
        """Assign the fullest GPUs that fit to pods that were bound before; a pod for which there are none is left out."""
        for key, (node, gpus, milli) in self._bound.items():
            info = self.handle.snapshot.node_info_map.get(node)
            if info is not None:
                row = self.nodes.row(info)
                free = self.nodes["free"][row]
                fits = np.flatnonzero(free >= milli)
                chosen = fits[np.argsort(free[fits], kind="stable")][:gpus].tolist()
                if len(chosen) == gpus:
                    self._assign(key, row, chosen, milli)
        self._bound.clear()

    def _assign(self, key: str, row: int, chosen: list[int], milli: int) -> None:
        self._assigned[key] = (row, chosen, milli)
        self._count(row, chosen, milli, 1)

    def _release(self, key: str) -> None:
        if key in self._assigned:
            row, chosen, milli = self._assigned.pop(key)
            self._count(row, chosen, milli, -1)

    def _count(self, row: int, chosen: list[int], milli: int, sign: int) -> None:
        self.nodes["free"][row, chosen] -= sign * milli
        self.nodes["pods"][row, len(chosen) if milli == WHOLE else 0] += sign


def _initial(info: NodeInfo) -> dict[str, int | list[int]]:
    gpus = info.allocatable.scalar.get(COUNT, 0)
    return {"free": [WHOLE] * gpus, "gpus": gpus, "pods": []}
