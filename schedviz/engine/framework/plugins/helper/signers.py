"""What plugins of v1.36 put into a pod's signature: the parts of the pod that they read, in the form that upstream gives them.

Equal signatures mean that two pods can be scheduled alike. Volumes are signed by what is stored of them, which is what the scheduler
reads: two pods that differ only in other members of a volume have equal signatures here, and different ones upstream.

Upstream: kube-scheduler/framework/signers.go
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from schedviz.kube.affinity import NodeSelectorRequirement, NodeSelectorTerm
from schedviz.kube.core import Pod

HOST_PORTS: Final = "v1.Pod.Spec.HostPorts()"
IMAGE_NAMES: Final = "v1.Pod.Spec.CanonicalImageNames()"
LABELS: Final = "v1.Pod.Labels"
NODE_AFFINITY: Final = "v1.Pod.Spec.Affinity.NodeAffinity"
NODE_NAME: Final = "v1.Pod.Spec.NodeName"
NODE_SELECTOR: Final = "v1.Pod.Spec.Affinity.NodeSelector"
REQUIRED_FEATURES: Final = "v1.Pod.Spec.RequiredFeatures()"
RESOURCES: Final = "v1.Pod.Spec.ContainerRequestsAndOverheads()"
SCHEDULER_NAME: Final = "v1.Pod.Spec.SchedulerName"
TOLERATIONS: Final = "v1.Pod.Spec.Tolerations"
VOLUMES: Final = "v1.Pod.Spec.Volumes.NonSyntheticSources()"


def signature(fragments: dict[str, Any]) -> bytes:
    """The signature: the fragments as Go's encoding/json writes a map."""
    return _json(dict(sorted(fragments.items()))).encode()


def host_ports(pod: Pod) -> list[int]:
    """The host ports of all containers, sorted. Upstream: HostPortsSigner"""
    spec = pod.spec
    return sorted({port.host_port for container in spec.all_containers for port in container.ports if port.host_port})


def labels(values: dict[str, str]) -> dict[str, str] | None:
    """A map as Go writes it: sorted, and null if it is empty."""
    return dict(sorted(values.items())) or None


def tolerations(pod: Pod) -> list[Any]:
    """The tolerations, by key and value. Upstream: TolerationsSigner"""
    ordered = sorted(pod.spec.tolerations, key=lambda toleration: (toleration.key, toleration.value))
    return [msgspec.to_builtins(toleration) for toleration in ordered]


def volumes(pod: Pod) -> list[str]:
    """The sources of the volumes that the scheduler reads. Upstream: VolumesSigner, which leaves out ConfigMaps and Secrets"""
    sources = [msgspec.to_builtins(volume) for volume in pod.spec.volumes]
    for source in sources:
        source.pop("name", None)
    return sorted(_json(source) for source in sources if source)


def node_affinity(pod: Pod) -> Any:
    """The node affinity; None: there is none. Upstream: NodeAffinitySigner"""
    affinity = None if pod.spec.affinity is None else pod.spec.affinity.node_affinity
    if affinity is None:
        return None
    required = () if affinity.required is None else affinity.required.node_selector_terms
    preferred = [_json({"Weight": term.weight, "Preference": _term(term.preference)}) for term in affinity.preferred]
    return {"Required": sorted(_json(_term(term)) for term in required), "Preferred": sorted(preferred)}


def _term(term: NodeSelectorTerm) -> dict[str, Any]:
    return {"MatchExpressions": _requirements(term.match_expressions), "MatchFields": _requirements(term.match_fields)}


def _requirements(requirements: Iterable[NodeSelectorRequirement]) -> list[str]:
    terms = []
    for requirement in requirements:
        plain = {"key": requirement.key, "operator": requirement.operator}
        terms.append(_json(plain | ({"values": sorted(requirement.values)} if requirement.values else {})))
    return sorted(terms)


def _json(value: Any) -> str:
    """JSON as Go's encoding/json writes it, which escapes the characters of HTML."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
