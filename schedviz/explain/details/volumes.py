"""Volumes: from which nodes the pod's bound volumes can be used."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine import Simulation
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.volumezone.volume_zone import topologies_of
from schedviz.explain.details.detail import LabelDetail
from schedviz.explain.details.node_labels import label_details, node_requirements, volume_requirements
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.kube.claims import claim_name
from schedviz.kube.core import Pod
from schedviz.kube.selectors import Requirement
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim


def volume_affinity_details(rejected: RejectedNodes) -> Iterator[LabelDetail]:
    """The node affinity of each bound volume."""
    for claim, volume in _bound(rejected):
        affinity = volume.spec.node_affinity
        if affinity is not None and affinity.required is not None:
            yield from label_details(rejected.everywhere, volume_requirements(affinity.required), claim.key, volume.name)


def volume_zone_details(rejected: RejectedNodes) -> Iterator[LabelDetail]:
    """The zone and region labels of each bound volume."""
    for claim, volume in _bound(rejected):
        requirements = [Requirement(topology.key, "in", topology.values) for topology in topologies_of(volume)]
        yield from label_details(rejected.everywhere, requirements, claim.key, volume.name)


def requirements_of_volumes(rejected: RejectedNodes, plugin: str) -> list[Requirement] | None:
    """What a node has to meet for all bound volumes of the pod; None: a volume has alternatives. `plugin` rejects the nodes."""
    found: list[Requirement] = []
    for _, volume in _bound(rejected):
        affinity = volume.spec.node_affinity
        if plugin == names.VOLUME_ZONE:
            found += [Requirement(topology.key, "in", tuple(sorted(topology.values))) for topology in topologies_of(volume)]
        elif affinity is not None and affinity.required is not None:
            if len(affinity.required.node_selector_terms) > 1:
                return None
            found += volume_requirements(affinity.required)
    return list(dict.fromkeys(found))


def required_of_node(simulation: Simulation, pod: Pod) -> list[Requirement]:
    """The labels that a node must have for the pod's selector, its affinity and its bound volumes, as far as they have no alternatives."""
    found = list(node_requirements(pod) or ())
    for _, volume in _bound_of(simulation, pod):
        affinity = volume.spec.node_affinity
        if affinity is not None and affinity.required is not None and len(affinity.required.node_selector_terms) == 1:
            found += volume_requirements(affinity.required)
    return list(dict.fromkeys(found))


def _bound(rejected: RejectedNodes) -> Iterator[tuple[PersistentVolumeClaim, PersistentVolume]]:
    return _bound_of(rejected.simulation, rejected.pod.pod)


def _bound_of(simulation: Simulation, pod: Pod) -> Iterator[tuple[PersistentVolumeClaim, PersistentVolume]]:
    informers = simulation.scheduler.state.informers
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        claim = informers.by_key("PersistentVolumeClaim", f"{pod.namespace}/{name}") if name else None
        if isinstance(claim, PersistentVolumeClaim) and claim.spec.volume_name:
            bound = informers.by_key("PersistentVolume", claim.spec.volume_name)
            if isinstance(bound, PersistentVolume):
                yield claim, bound
