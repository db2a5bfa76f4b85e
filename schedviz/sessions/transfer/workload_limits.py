"""Limits on the workloads and pods of an import: those of commands, which single objects must meet too."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedviz.ingest.errors import IngestError
from schedviz.kube.affinity import TopologySpreadConstraint
from schedviz.kube.apps import Deployment, ReplicaSet
from schedviz.kube.core import Pod, PodSpec, ResourceRequirements
from schedviz.kube.meta import KubeObject
from schedviz.sessions.commands.limits import MAX_POD_TERMS, MAX_TERMS, validate_replicas, validate_terms
from schedviz.sessions.errors import CommandRefused


def validate_workloads(objects: Iterable[KubeObject]) -> None:
    """Raises `IngestError` for a workload with too many replicas, and for a pod, or pods of a workload, with too many terms."""
    for obj in objects:
        if isinstance(obj, Deployment | ReplicaSet):
            _validate_replicas(obj)
            if obj.spec.template is not None and _may_have_too_many_terms(obj.spec.template.spec):
                _validate_terms(obj, obj.spec.template.spec)
        elif isinstance(obj, Pod) and _may_have_too_many_terms(obj.spec):
            _validate_terms(obj, obj.spec)


def _validate_replicas(workload: Deployment | ReplicaSet) -> None:
    kind = type(workload).__name__
    try:
        validate_replicas({"kind": kind, "spec": {"replicas": workload.spec.replicas}})
    except CommandRefused as error:
        raise IngestError(f"{kind} {workload.namespace}/{workload.name}: {error}") from None


def _validate_terms(obj: Pod | Deployment | ReplicaSet, spec: PodSpec) -> None:
    """Check the specification of a pod, or of a workload's pods. Raises `IngestError`."""
    terms = {
        "affinity": spec.affinity,
        "tolerations": spec.tolerations,
        "topologySpreadConstraints": spec.topology_spread_constraints,
        "schedulingGates": spec.scheduling_gates,
        "nodeSelector": spec.node_selector,
    }
    names = {name for requirement in _requirements(spec) for name in (*requirement.requests, *requirement.limits)}
    counted = {
        **msgspec.to_builtins(terms),
        "overhead": dict.fromkeys(names),
        "containers": [{"ports": container.ports} for container in spec.all_containers],
        "volumes": spec.volumes,
    }
    kind = type(obj).__name__
    try:
        validate_terms({"kind": kind, "spec": counted if isinstance(obj, Pod) else {"template": {"spec": counted}}})
    except CommandRefused as error:
        raise IngestError(f"{kind} {obj.namespace}/{obj.name}: {error}") from None


def _may_have_too_many_terms(spec: PodSpec) -> bool:
    """Whether a pod may have too many terms, resources, ports or volumes: a quick check, because an import has many pods."""
    spread = sum(map(_terms_in, spec.topology_spread_constraints))
    others = spread + len(spec.tolerations) + len(spec.scheduling_gates) + len(spec.node_selector)
    return (
        spec.affinity is not None
        or spread > MAX_POD_TERMS
        or others + sum(len(requirement.requests) + len(requirement.limits) for requirement in _requirements(spec)) > MAX_TERMS
        or len(spec.volumes) > MAX_TERMS
        or sum(len(container.ports) for container in spec.all_containers) > MAX_TERMS
    )


def _terms_in(constraint: TopologySpreadConstraint) -> int:
    selector = constraint.label_selector
    return 1 + len(constraint.match_label_keys) + (len(selector.match_labels) + len(selector.match_expressions) if selector else 0)


def _requirements(spec: PodSpec) -> list[ResourceRequirements]:
    return [container.resources for container in spec.all_containers]
