"""How many of several pending pods a change places: each takes room from the next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from math import inf
from typing import Final, NamedTuple

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun, changed, configured
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.changes.apply import config_with
from schedviz.explain.changes.change import Change
from schedviz.explain.changes.more_nodes import more_nodes
from schedviz.explain.shadowing.in_flight import bound_pod
from schedviz.explain.shadowing.shadow import choose
from schedviz.kube.claims import claim_name
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import PersistentVolumeClaim
from schedviz.trace.phrase import Phrase, phrase

#: Pods that are tried, because each takes a dry run. Of more pods, only the first are.
_MAX_PODS: Final = 20
#: Shapes of additional nodes that are tried for the pods that a change leaves.
_MAX_SHAPES: Final = 6


class PodAndChanges(NamedTuple):
    """A pending pod, and the changes with which a dry run placed it alone."""

    pod: Pod
    changes: tuple[Change, ...]


def count_placed(simulation: Simulation, pods: Sequence[PodAndChanges], more: Sequence[Change] = ()) -> int:
    """How many of the pods fit one after the other with their changes and the pods before them; then, of those that are left, with `more`.

    Each is placed on the node that the scheduler would choose. `simulation` belongs to the caller; its snapshot is updated.
    """
    changes = _once([change for each in pods for change in each.changes])
    with ExitStack() as stack:
        if (config := config_with(simulation, changes)) is not None:
            stack.enter_context(configured(simulation, config))
        stack.enter_context(_applied(simulation, changes))
        left = [each for each in pods if not _place(simulation, stack, each)]
        placed = len(pods) - len(left)
        if not more or not left:
            return placed
        stack.enter_context(_applied(simulation, more))
        return placed + sum(_place(simulation, stack, each) for each in left)


def _applied(simulation: Simulation, changes: Sequence[Change]) -> AbstractContextManager[None]:
    """The objects of the changes in the cluster, for the duration of a `with`."""
    updated: Mapping[tuple[type, str], KubeObject] = {(type(obj), obj.metadata.key): obj for each in changes for obj in each.updated}
    deleted = {obj.metadata.key: obj for change in changes for obj in change.deleted}
    return changed(simulation, updated=[*updated.values()], deleted=[*deleted.values()])


def _orders(pods: Sequence[PodAndChanges]) -> list[list[PodAndChanges]]:
    """The orders in which the scheduler may try the pods: by priority and, of equal priority, the smallest or the largest first."""
    sizes = {each.pod.key: _size(each.pod) for each in pods}

    def in_turn(each: PodAndChanges, sign: int) -> tuple[int, int, int]:
        milli_cpu, memory = sizes[each.pod.key]
        return -(each.pod.spec.priority or 0), sign * milli_cpu, sign * memory

    smallest_first = sorted(pods, key=lambda each: in_turn(each, 1))
    largest_first = sorted(pods, key=lambda each: in_turn(each, -1))
    return [smallest_first] if len(set(sizes.values())) == 1 else [smallest_first, largest_first]


def _size(pod: Pod) -> tuple[int, int]:
    requests = PodInfo(pod).spec_requests.resource
    return requests.milli_cpu, requests.memory


def _conflicts(pods: Sequence[PodAndChanges]) -> bool:
    """Whether changes of different pods change an object differently."""
    objects: dict[tuple[type, str], KubeObject] = {}
    updated = (obj for each in pods for change in each.changes for obj in change.updated)
    return any(objects.setdefault((type(obj), obj.metadata.key), obj) != obj for obj in updated)


def _once(changes: Sequence[Change]) -> list[Change]:
    return [*{change.what: change for change in changes}.values()]


def _place(simulation: Simulation, stack: ExitStack, each: PodAndChanges) -> bool:
    """Whether the pod fits. Then it takes its room until the stack is closed."""
    pod = each.pod
    for change in each.changes:
        pod = change.of_pod(pod)
    node = next(iter(choose(simulation, DryRun(simulation, pod)).best), None)
    if node is None:
        return False
    stack.enter_context(changed(simulation, updated=[bound_pod(pod, node)]))
    return True


def can_count(simulation: Simulation, pod: Pod) -> bool:
    """Whether dry runs can place the pod beside others. They do not count the devices and the volumes that claims would get."""
    names = (claim_name(pod, volume) for volume in pod.spec.volumes)
    return not pod.spec.resource_claims and all(_is_bound(simulation, f"{pod.namespace}/{name}") for name in names if name)


def _is_bound(simulation: Simulation, claim: str) -> bool:
    found = simulation.cluster.find("PersistentVolumeClaim", claim)
    return isinstance(found, PersistentVolumeClaim) and bool(found.spec.volume_name)


def phrase_of_placed(simulation: Simulation, pods: Sequence[PodAndChanges], until: float = inf) -> Phrase | None:
    """How many of the pods their changes place, and how many more nodes place the others.

    None for one pod, and for pods that cannot be counted. After `until`, a moment of `time.perf_counter`, no search begins.
    """
    count = len(pods)
    tried = pods[:_MAX_PODS]
    if count < 2 or not all(can_count(simulation, each.pod) for each in tried) or _conflicts(tried) or time.perf_counter() > until:
        return None
    orders = _orders(tried)
    placed = [count_placed(simulation, order) for order in orders]
    fewest, most = min(placed), max(placed)
    if fewest == len(tried) < count:
        return phrase("this is enough for the first {tried} of {count} pods; the others were not tried", tried=len(tried), count=count)
    if len(tried) < count:
        values = {"placed": most, "tried": len(tried), "count": count}
        return phrase("this is enough for only {placed} of the first {tried} of {count} pods; the others were not tried", **values)
    if fewest == count:
        return phrase("this is enough for both pods") if count == 2 else phrase("this is enough for all {count} pods", count=count)
    places = (
        phrase("this is enough for only {placed} of {count} pods", placed=most, count=count)
        if fewest == most
        else phrase(
            "this is enough for {fewest} to {most} of {count} pods, depending on which is tried first",
            fewest=fewest,
            most=most,
            count=count,
        )
    )
    if (all_nodes := _nodes_instead(simulation, tried, fewest, until)) is not None:
        return phrase("{places}; for all of them, {more}", places=places, more=all_nodes.phrase)
    more = _nodes_for_all(simulation, orders, placed, until)
    return places if more is None else phrase("{places}; for the others, {more}", places=places, more=more.phrase)


def _nodes_instead(simulation: Simulation, pods: Sequence[PodAndChanges], placed: int, until: float) -> Change | None:
    """The change that adds enough nodes of one shape for all pods, if the only change is one node of that shape; otherwise None."""
    changes = _once([change for each in pods for change in each.changes])
    if len(changes) != 1 or changes[0].kind != "node" or not placed or time.perf_counter() > until:
        return None
    pod, needed = pods[0].pod, -(-len(pods) // placed)
    every: Iterator[Change] = more_nodes(simulation, DryRun(simulation, pod), counts=(needed,))
    change = next((change for change in every if change.ladder == changes[0].ladder), None)
    if change is None or count_placed(simulation, [PodAndChanges(each.pod, (change,)) for each in pods]) < len(pods):
        return None
    return change


def _nodes_for_all(simulation: Simulation, orders: Sequence[Sequence[PodAndChanges]], placed: Sequence[int], until: float) -> Change | None:
    """The fewest additional nodes of one shape that place the pods which the changes leave, in whichever order; None if none was found."""
    pods = orders[0]
    best: tuple[int, Change] | None = None
    for single in more_nodes(simulation, DryRun(simulation, pods[0].pod), shapes=_MAX_SHAPES):
        if time.perf_counter() > until:
            break
        on_one = [count_placed(simulation, order, [single]) - before for order, before in zip(orders, placed, strict=True)]
        left = [len(pods) - before for before in placed]
        if any(count and not gained for count, gained in zip(left, on_one, strict=True)):
            continue
        needed = max(-(-count // gained) for count, gained in zip(left, on_one, strict=True) if count)
        if best is not None and needed >= best[0]:
            continue
        change = single if needed == 1 else _more_like(simulation, pods[0].pod, single, needed)
        if change is not None and (needed == 1 or all(count_placed(simulation, order, [change]) == len(pods) for order in orders)):
            best = needed, change
    return best[1] if best is not None else None


def _more_like(simulation: Simulation, pod: Pod, single: Change, count: int) -> Change | None:
    """The change that adds `count` nodes of the shape of the one that `single` adds; None if there is none."""
    every: Iterator[Change] = more_nodes(simulation, DryRun(simulation, pod), counts=(count,), shapes=_MAX_SHAPES)
    return next((change for change in every if change.ladder == single.ladder), None)
