"""Policies for clusters with shared GPUs, as Weng et al. compare them in "Beware of Fragmentation" (USENIX ATC 2023).

The formulas, and where they are rounded, are those of the authors' simulator: https://github.com/hkust-adsl/kubernetes-scheduler-simulator
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from gpu_sharing import MODEL, WHOLE, Amounts, GpuSharing, Nodes, Request

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle, Scores
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.meta import KubeObject

#: The amounts of the largest node, by which the authors divide: thousandths of cpus and of GPUs.
_MAX_MILLI_CPU = 128_000
_MAX_MILLI_GPU = 8_000

_Floats = npt.NDArray[np.float64]


class GpuRandom(GpuSharing):
    """A random node, and a random GPU of it."""

    name = "GpuRandom"

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002
        scores = np.zeros(len(nodes.cpu), np.int64)
        scores[self._random(pod, "node").randrange(len(scores))] = 100
        return scores

    def choose(self, request: Request, node: Nodes, pod: PodInfo) -> int:
        return int(self._random(pod, "gpu").choice(np.flatnonzero(node.free[0] >= request.milli).tolist()))

    def _random(self, pod: PodInfo, purpose: str) -> random.Random:
        """Draws that depend on the seed and the pod alone, so that a replay repeats them."""
        return random.Random(f"{self.handle.seed}/{pod.key}/{purpose}")  # noqa: S311


class GpuBestFit(GpuSharing):
    """The node with the least left, half by cpu and half by GPUs."""

    name = "GpuBestFit"

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002
        cpu = (nodes.cpu - request.cpu) / _MAX_MILLI_CPU
        gpu = (nodes.free.sum(axis=1) - request.gpus * request.milli) / _MAX_MILLI_GPU
        return np.asarray((1 - (cpu + gpu) / 2) * 100).astype(np.int64)

    def normalize_score(self, _state: CycleState, _pod: PodInfo, scores: Scores) -> Scores:
        low, high = scores.min(), scores.max()
        return np.zeros_like(scores) if low == high else (scores - low) * 100 // (high - low)


class GpuDotProduct(GpuSharing):
    """The node with the smallest product of what is free and what is requested."""

    name = "GpuDotProduct"

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002
        cpu = nodes.cpu / _MAX_MILLI_CPU * (request.cpu / _MAX_MILLI_CPU)
        gpu = nodes.free.sum(axis=1) / _MAX_MILLI_GPU * (request.gpus * request.milli / _MAX_MILLI_GPU)
        return np.asarray(100 * (1 - (cpu + gpu) / 2)).astype(np.int64)


class GpuPacking(GpuSharing):
    """GPUs in use first, then free GPUs of nodes in use, then free nodes."""

    name = "GpuPacking"

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002
        if not request.gpus:
            return np.zeros(len(nodes.cpu), np.int64)
        whole = (nodes.free == WHOLE).sum(axis=1)
        # The fullest GPUs with room, as many as the pod needs.
        used = np.sort(np.where(nodes.free >= request.milli, nodes.free, 2 * WHOLE), axis=1)[:, : request.gpus]
        new = (used == WHOLE).sum(axis=1)
        on_used_gpus = np.maximum(100 - (used * 100 // WHOLE).sum(axis=1) // 10, 50)
        on_used_node = np.where(new > 0, np.maximum(50 - new, 33), on_used_gpus)
        return np.asarray(np.where(whole == nodes.gpus, np.maximum(33 - whole, whole), on_used_node))


class GpuClustering(GpuSharing):
    """Nodes whose pods request as many GPUs as this one."""

    name = "GpuClustering"

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002
        if not request.gpus:
            return np.zeros(len(nodes.cpu), np.int64)
        same = nodes.pods[:, request.kind] > 0
        others = (np.delete(nodes.pods, request.kind, axis=1) > 0).any(axis=1)
        base = np.where(same, np.where(others, 50, 75), np.where(others, 0, 25))
        return np.asarray(base + 25 * (_MAX_MILLI_GPU - nodes.free.sum(axis=1)) // _MAX_MILLI_GPU)


class FGD(GpuSharing):
    """Fragmentation gradient descent: the node, and the GPU, on which the pod adds the least fragmentation.

    Arguments: `share`, the part of all pods that the typical ones make up (0.95); `scale`, the thousandths of fragmentation that move the
    score from 50 to 73 (1000). Scores are whole numbers from 0 to 100, so that many nodes tie.
    """

    name = "FGD"

    def __init__(self, args: dict[str, Any] | None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._scale = float(self.args.get("scale", WHOLE))
        #: How many of the pods that exist when the first pod is scored have each request; None: none was scored.
        self._pods_by_request: Counter[Request] | None = None
        self._fragmentation: Fragmentation | None = None
        self._kept: dict[Request, _Kept] = {}

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:  # noqa: ARG002
        """Scores are kept by request, and computed again for nodes that changed: one in most cycles."""
        kept = self._kept.setdefault(request, _Kept(nodes.free.shape[1]))
        kept.grow(len(self.nodes))
        rows = nodes.rows
        changed = np.flatnonzero((kept.cpu[rows] != nodes.cpu) | (kept.free[rows] != nodes.free).any(axis=1))
        if len(changed):
            free, cpu, own = nodes.free[changed], nodes.cpu[changed], rows[changed]
            names = [nodes.names[place] for place in changed.tolist()]
            kept.scores[own] = self._gains(request, free, cpu, names).max(axis=1)
            kept.free[own], kept.cpu[own] = free, cpu
        return kept.scores[rows]

    def choose(self, request: Request, node: Nodes, pod: PodInfo) -> int:  # noqa: ARG002
        return int(self._gains(request, node.free, node.cpu, node.names)[0].argmax())

    def to_state(self, number: Callable[[KubeObject], int]) -> Any:
        popular = None if self._pods_by_request is None else [[list(request), count] for request, count in self._pods_by_request.items()]
        return {**super().to_state(number), "popular": popular}

    def load(self, state: Any, find: Callable[[str, int], KubeObject]) -> None:
        super().load(state, find)
        if state["popular"] is not None:
            self._pods_by_request = Counter(
                {Request(cpu, gpus, milli, tuple(models)): n for (cpu, gpus, milli, models), n in state["popular"]}
            )

    def _gains(self, request: Request, free: Amounts, cpu: Amounts, names: list[str]) -> Amounts:
        """The scores of nodes and their GPUs; -1 where a share does not fit. Without a share, the first column has the node's score."""
        fragmentation = self._typical()
        models = [self._model(name) for name in names]
        before, left = fragmentation.amounts(free, cpu, models), cpu - request.cpu
        scores = np.full(free.shape, -1)
        if request.is_share:
            node, gpu = np.nonzero(free >= request.milli)
            after = free[node]
            after[np.arange(len(node)), gpu] -= request.milli
            amounts = fragmentation.amounts(after, left[node], [models[place] for place in node.tolist()])
            scores[node, gpu] = self._scores(before[node] - amounts)
        else:
            whole = free == WHOLE
            after = np.where(whole & (np.cumsum(whole, axis=1) <= request.gpus), 0, free)
            scores[:, 0] = self._scores(before - fragmentation.amounts(after, left, models))
        return scores

    def _scores(self, less: _Floats) -> Amounts:
        return (100 / (1 + np.exp(-less / self._scale))).astype(np.int64)

    def _model(self, node: str) -> str:
        info = self.handle.snapshot.node_info_map[node]
        return info.node.metadata.labels.get(MODEL, "") if info.node is not None else ""

    def _typical(self) -> Fragmentation:
        if self._fragmentation is None:
            if self._pods_by_request is None:
                self._pods_by_request = Counter(Request.of(PodInfo(pod)) for pod in self.handle.objects.list("Pod"))
            self._fragmentation = Fragmentation(self._pods_by_request, float(self.args.get("share", 0.95)))
        return self._fragmentation


class FGDBestFit(FGD):
    """Fragmentation gradient descent, and best fit among the nodes on which the pod adds equally little. Not in the paper."""

    name = "FGDBestFit"

    def scores(self, request: Request, nodes: Nodes, pod: PodInfo) -> Amounts:
        """100 for the best node alone, so that no choice is left to the order of ties."""
        left = nodes.cpu / _MAX_MILLI_CPU + nodes.free.sum(axis=1) / _MAX_MILLI_GPU
        order = np.lexsort((left, -super().scores(request, nodes, pod)))
        scores = np.zeros(len(order), np.int64)
        scores[order[0]] = 100
        return scores


class _Kept:
    """The scores of one request by row of the table, and the free amounts for which they were computed."""

    def __init__(self, width: int) -> None:
        self.scores: Amounts = np.zeros(0, np.int64)
        self.cpu: Amounts = np.zeros(0, np.int64)
        self.free: Amounts = np.zeros((0, width), np.int64)

    def grow(self, rows: int) -> None:
        """Add rows without scores."""
        more = rows - len(self.scores)
        if more > 0:
            self.scores = np.concatenate([self.scores, np.zeros(more, np.int64)])
            self.cpu = np.concatenate([self.cpu, np.full(more, -1)])
            self.free = np.concatenate([self.free, np.zeros((more, self.free.shape[1]), np.int64)])


class Fragmentation:
    """The fragmentation measure: how much of a node's free GPUs a typical pod is expected to be unable to use."""

    def __init__(self, popular: Counter[Request], share: float) -> None:
        """The typical pods are the most frequent requests that make up this share of all pods."""
        typical: list[tuple[Request, int]] = []
        for request, count in sorted(popular.items(), key=lambda entry: (entry[1], entry[0]), reverse=True):
            if sum(n for _, n in typical) >= share * popular.total():
                break
            typical.append((request, count))
        requests = [request for request, _ in typical]
        #: How frequent each request is; they add up to 1.
        self.frequencies = np.array([count for _, count in typical]) / sum(count for _, count in typical)
        self._cpu = np.array([request.cpu for request in requests])
        self._gpus = np.array([request.gpus for request in requests])
        self._models = [request.models for request in requests]
        self._milli, self._place = np.unique(np.array([request.milli for request in requests]), return_inverse=True)

    def amounts(self, free: Amounts, cpu: Amounts, models: list[str]) -> _Floats:
        """The expected unusable thousandths of nodes. All free GPUs of a node are unusable for a pod that needs none or does not fit."""
        fits = free[:, None, :] >= self._milli[None, :, None]
        can_host = (fits.sum(axis=2)[:, self._place] >= self._gpus) & (cpu[:, None] >= self._cpu) & (self._gpus > 0)
        if any(self._models):
            can_host &= np.array([[not wanted or model in wanted for wanted in self._models] for model in models])
        too_small = (free[:, None, :] * ~fits).sum(axis=2)[:, self._place]
        return np.asarray(np.where(can_host, too_small, free.sum(axis=1)[:, None]) @ self.frequencies)
