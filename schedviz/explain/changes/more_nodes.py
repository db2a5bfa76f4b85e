"""Additional nodes like those that exist, with their devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.explain.changes.change import Change
from schedviz.explain.details.volumes import required_of_node
from schedviz.explain.reserved_nodes import is_out_of_use
from schedviz.kube.core import Node
from schedviz.kube.devices import ResourceSlice
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, phrase

HOSTNAME: Final = "kubernetes.io/hostname"
#: More labels are not named.
_MAX_LABELS: Final = 3
#: Distinct node shapes tried.
_MAX_SHAPES: Final = 20


def more_nodes(simulation: Simulation, dry_run: DryRun, *, counts: Sequence[int] = (1,), shapes: int = _MAX_SHAPES) -> Iterator[Change]:
    """Adding empty nodes of each existing shape. Of several counts, the first that helps is suggested."""
    has_claims = bool(dry_run.pod.pod.spec.resource_claims)
    slices = _slices_by_node(simulation) if has_claims else {}
    nodes: dict[object, Node] = {}
    for info in dry_run.rows.infos:
        if info.node is not None:
            nodes.setdefault(_shape(info.node, slices.get(info.node.name, [])), info.node)
        if len(nodes) == shapes:
            break
    names = set(dry_run.rows.names)
    required = _distinctive_labels(simulation, dry_run)
    # A new node is like those that work.
    for node in sorted(nodes.values(), key=_is_out_of_use):
        free = (name for number in range(1, len(names) + max(counts) + 1) if (name := f"{node.name}-more-{number}") not in names)
        new = [next(free) for _ in range(max(counts))]
        for count in counts:
            objects = [obj for name in new[:count] for obj in _another(node, name, slices.get(node.name, []))]
            yield Change(
                "node",
                _title(node, count, {**required, **_domains(dry_run, node)}),
                against=frozenset(),
                amount=1 - 1 / count,
                ladder=f"more nodes like {node.name}",
                updated=tuple(objects),
            )


def _distinctive_labels(simulation: Simulation, dry_run: DryRun) -> dict[str, str]:
    """The labels that the pod or its bound volumes require, and that not all nodes have; none if they are too many to name."""
    required = required_of_node(simulation, dry_run.pod.pod)
    labels = {each.key: next(iter(each.values)) for each in required if each.operator in ("in", "=") and len(each.values) == 1}
    nodes = [info.node for info in dry_run.rows.infos if info.node is not None]
    found = {key: value for key, value in labels.items() if any(node.metadata.labels.get(key) != value for node in nodes)}
    return found if len(found) <= _MAX_LABELS else {}


def _domains(dry_run: DryRun, node: Node) -> dict[str, str]:
    """The labels of the node that say in which domain of the pod's topology spread constraints it is, if not all nodes are there."""
    hard = (each for each in dry_run.pod.pod.spec.topology_spread_constraints if each.when_unsatisfiable == "DoNotSchedule")
    keys = {each.topology_key for each in hard} - {HOSTNAME}
    others = [info.node.metadata.labels for info in dry_run.rows.infos if info.node is not None]
    labels = node.metadata.labels
    return {key: labels[key] for key in sorted(keys) if key in labels and any(other.get(key) != labels[key] for other in others)}


def _title(node: Node, count: int, required: Mapping[str, str]) -> Phrase:
    """The change in words, with what makes the node suit the pod: not every new node does."""
    title = phrase("add a node like {node}", node=node.name)
    if count > 1:
        title = phrase("add {count} nodes like {node}", count=count, node=node.name)
    if not required or any(node.metadata.labels.get(key) != value for key, value in required.items()):
        return title
    labels = "`, `".join(f"{key}={value}" for key, value in required.items())
    return phrase("{nodes}, with `{labels}`", nodes=title, labels=labels)


def _is_out_of_use(node: Node) -> bool:
    return node.spec.unschedulable or any(map(is_out_of_use, node.spec.taints))


def _slices_by_node(simulation: Simulation) -> dict[str, list[ResourceSlice]]:
    by_node: dict[str, list[ResourceSlice]] = {}
    for resource_slice in simulation.cluster.store.of_kind("ResourceSlice").values():
        if isinstance(resource_slice, ResourceSlice) and resource_slice.spec.node_name:
            by_node.setdefault(resource_slice.spec.node_name, []).append(resource_slice)
    return by_node


def _another(node: Node, name: str, slices: Sequence[ResourceSlice]) -> Iterator[KubeObject]:
    labels = {key: name if key == HOSTNAME else value for key, value in node.metadata.labels.items()}
    metadata = replace(node.metadata, name=name, uid=name, labels=labels)
    taints = tuple(taint for taint in node.spec.taints if not is_out_of_use(taint))
    yield replace(node, metadata=metadata, spec=replace(node.spec, unschedulable=False, taints=taints))
    for slice_ in slices:
        pool = replace(slice_.spec.pool, name=_renamed(slice_.spec.pool.name, node.name, name))
        named = replace(slice_.metadata, name=_renamed(slice_.name, node.name, name), uid="", owner_references=())
        yield replace(slice_, metadata=named, spec=replace(slice_.spec, node_name=name, pool=pool))


def _renamed(text: str, before: str, after: str) -> str:
    """A name that contains the old node's name, with the new node's name in its place."""
    return text.replace(before, after) if before in text else f"{text}-{after}"


def _shape(node: Node, slices: Sequence[ResourceSlice]) -> object:
    """What distinguishes nodes for a pod, except their names."""
    labels = tuple(sorted((key, value) for key, value in node.metadata.labels.items() if key != HOSTNAME))
    allocatable = tuple(sorted((name, str(amount)) for name, amount in node.status.allocatable.items()))
    taints = tuple((taint.key, taint.value, taint.effect) for taint in node.spec.taints)
    devices = tuple(sorted((slice_.spec.driver, len(slice_.spec.devices)) for slice_ in slices))
    return labels, allocatable, taints, devices
