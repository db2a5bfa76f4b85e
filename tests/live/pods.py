"""The kinds of pods that the scenarios create."""

from __future__ import annotations

import random
from typing import Any

#: Kinds whose resources every release counts in the same way.
COMMON_KINDS = ("plain", "besteffort", "image", "spread", "anti", "near", "preferred", "gpu", "init")
#: Kinds whose resources v1.36 counts in another way than v1.27.1.
V1_36_KINDS = ("sidecar", "podlevel")

_ZONE, _HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def container(cpu: str = "250m", memory: str = "256Mi", **members: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": memory}, **members.pop("resources", {})}
    return {"name": "c", "image": "registry.local/app1:v1", "resources": resources, **members}


def labelled(name: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": name}}}


def spec(kind: str, source: random.Random) -> dict[str, Any]:
    """The spec of a pod of a kind."""
    made = _spec(kind, source)
    return {"terminationGracePeriodSeconds": 1, **made}


def _spec(kind: str, source: random.Random) -> dict[str, Any]:
    match kind:
        case "besteffort":
            return {"containers": [{"name": "c", "image": f"registry.local/app{source.randrange(6)}:v1"}]}
        case "image":
            return {"containers": [container("100m", image=f"registry.local/app{source.randrange(6)}:v1")]}
        case "spread":
            hard = {"maxSkew": 1, "topologyKey": _ZONE, "whenUnsatisfiable": "DoNotSchedule", **labelled(kind)}
            soft = {"maxSkew": 1, "topologyKey": _HOST, "whenUnsatisfiable": "ScheduleAnyway", **labelled(kind)}
            return {"containers": [container()], "topologySpreadConstraints": [hard, soft]}
        case "anti":
            return {"containers": [container()], "affinity": {"podAntiAffinity": _preferred_pods(100, kind)}}
        case "near":
            return {"containers": [container("50m")], "affinity": {"podAffinity": _preferred_pods(20, "spread")}}
        case "preferred":
            small = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["small"]}]}
            preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": small}]}
            return {"containers": [container("200m")], "affinity": {"nodeAffinity": preferred}}
        case "gpu":
            limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}} if source.random() < 0.2 else {}
            return {"containers": [container("100m", **limits)], "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
        case "init":
            return {"containers": [container("100m")], "initContainers": [{**container("900m", "1Gi"), "name": "i"}]}
        case "sidecar":
            return {
                "containers": [container("100m")],
                "initContainers": [{**container("900m", "1Gi"), "name": "i", "restartPolicy": "Always"}],
            }
        case "podlevel":
            return {"resources": {"requests": {"cpu": "800m", "memory": "1Gi"}}, "containers": [container("100m")]}
        case _:
            return {"containers": [container(source.choice(["100m", "300m", "700m"]), source.choice(["128Mi", "1Gi", "2Gi"]))]}


def _preferred_pods(weight: int, app: str) -> dict[str, Any]:
    term = {"weight": weight, "podAffinityTerm": {"topologyKey": _HOST, **labelled(app)}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [term]}


def deployment(name: str, replicas: int, template: dict[str, Any]) -> dict[str, Any]:
    """A Deployment whose pods have this spec."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"terminationGracePeriodSeconds": 1, **template}},
        },
    }
