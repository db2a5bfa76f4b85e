"""Adds pods to a workload, or leaves some out, until it requests a share of what the nodes have."""

from __future__ import annotations

import random
from collections.abc import Iterable

import msgspec

from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import PodInfo
from schedviz.experiments.amounts import amounts
from schedviz.experiments.errors import PlanError
from schedviz.experiments.inputs.base_cluster import is_pending
from schedviz.experiments.plans.plan import MAX_COPIES, Load
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject


def with_load(objects: list[KubeObject], load: Load, *, seed: int) -> list[KubeObject]:
    """The objects with a workload of this load. Copies come last; the first copy that would exceed the load ends the drawing.

    Raises `PlanError` if no pod requests the resource, no node has it, or the pods would be too many.
    """
    pods = [obj for obj in objects if isinstance(obj, Pod) and is_pending(obj)]
    requested = {pod.key: _requested(pod, load.resource) for pod in pods}
    capacity = sum(_allocatable(objects, load.resource))
    total, wanted = sum(requested.values()), load.share * capacity
    if not total or not capacity:
        found = "no pod of the workload requests it" if not total else "no node has it"
        raise PlanError.of("workload.load.resource", f"the workload cannot reach a share of {load.resource!r}: {found}")
    rng = random.Random(f"{seed}/load")  # noqa: S311 - a reproducible draw, no secret.
    if total > wanted:
        dropped = _dropped(pods, requested, total - wanted, rng)
        return [obj for obj in objects if not (isinstance(obj, Pod) and obj.key in dropped)]
    # Sorted, so that the draw does not depend on the order of arrival.
    return [*objects, *_copies(sorted(pods, key=lambda pod: pod.key), requested, wanted - total, rng)]


def _dropped(pods: list[Pod], requested: dict[str, int], excess: float, rng: random.Random) -> set[str]:
    keys = sorted(pod.key for pod in pods)
    rng.shuffle(keys)
    dropped = set()
    for key in keys:
        if excess <= 0:
            break
        dropped.add(key)
        excess -= requested[key]
    return dropped


def _copies(pods: list[Pod], requested: dict[str, int], room: float, rng: random.Random) -> Iterable[Pod]:
    number = 0
    while True:
        pod = rng.choice(pods)
        room -= requested[pod.key]
        if room < 0:
            return
        number += 1
        if number > MAX_COPIES:
            message = f"more than {MAX_COPIES:,} pods would be added to reach the share; use a smaller one, or pods that request more"
            raise PlanError.of("workload.load.share", message)
        metadata = msgspec.structs.replace(pod.metadata, name=f"{pod.name}-drawn-{number}", uid=f"{pod.uid}-drawn-{number}")
        yield msgspec.structs.replace(pod, metadata=metadata)


def _requested(pod: Pod, resource: str) -> int:
    return amounts(PodInfo(pod).requests.resource).get(resource, 0)


def _allocatable(objects: Iterable[KubeObject], resource: str) -> Iterable[int]:
    return (amounts(Resource.of(obj.status.allocatable)).get(resource, 0) for obj in objects if isinstance(obj, Node))
