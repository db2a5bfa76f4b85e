"""Limits on commands and files, so that no single step of an engine takes long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from django.conf import settings

from schedviz.sessions.errors import CommandRefused
from schedviz.trace.commands import AnyCommand, encode_command

#: Profiles in one KubeSchedulerConfiguration. The scheduler builds a framework with all plugins for each when it starts.
MAX_PROFILES: Final = 100
#: The maximum of each of these: the terms, requirements, tolerations and constraints of one pod together; its ports; its volumes; the
#: resources that it requests; the items in the lists of a profile's plugin arguments. Filter evaluates all of them on every node, in one
#: step.
MAX_TERMS: Final = 1000
#: Spread constraints and terms of affinity to pods, of one pod or a profile's default constraints, with the requirements of their
#: selectors. PreFilter and PreScore compare each of them with every pod of the cluster, in one step.
MAX_POD_TERMS: Final = 100
#: The JSON of a profile's plugin arguments. Reasons in them (of the Scripted plugin) become part of the message of each cycle and pod.
MAX_ARGUMENT_BYTES: Final = 256 * 1024
#: The JSON of one command. This is etcd's limit for a request, and therefore for an object.
MAX_COMMAND_BYTES: Final = 1536 * 1024
#: How many commands of that size, or responses of extenders, are read at a time to go through all of a session.
COMMANDS_PER_BATCH: Final = 32
_TERMS: Final = ("affinity", "tolerations", "topologySpreadConstraints", "schedulingGates")
_WORKLOADS: Final = ("Deployment", "ReplicaSet", "StatefulSet")


def replicas_of(obj: Mapping[str, Any]) -> int:
    """How many pods the simulated controllers would create for an object, given as its JSON."""
    if obj.get("kind") not in _WORKLOADS:
        return 0
    replicas = (obj.get("spec") or {}).get("replicas")
    return 1 if replicas is None else max(0, int(replicas))


def validate_replicas(obj: Mapping[str, Any]) -> None:
    """Raises `CommandRefused` if a workload asks for more pods than a generated cluster may have."""
    replicas = replicas_of(obj)
    if replicas > settings.GENERATE_PODS:
        raise CommandRefused(
            f"is {replicas:,}; SCHEDVIZ_GENERATE_PODS allows {settings.GENERATE_PODS:,} pods. Ask for fewer replicas.", path="spec.replicas"
        )


def validate_config(config: object) -> None:
    """Raises `CommandRefused` if a KubeSchedulerConfiguration, given as its JSON, has too many profiles, or too many or too large plugin
    arguments.
    """
    profiles = config.get("profiles") if isinstance(config, Mapping) else None
    if not isinstance(profiles, list | tuple):
        return
    if len(profiles) > MAX_PROFILES:
        raise CommandRefused(f"there are {len(profiles):,}; at most {MAX_PROFILES} are allowed. Remove profiles.", path="profiles")
    for index, profile in enumerate(profiles):
        path = f"profiles[{index}].pluginConfig"
        arguments = profile.get("pluginConfig") if isinstance(profile, Mapping) else None
        items = _items(arguments)
        if items > MAX_TERMS:
            raise CommandRefused(
                f"the lists in the plugins' arguments have {items:,} items; "
                f"at most {MAX_TERMS:,} are allowed. Remove rules, terms or constraints.",
                path=path,
            )
        constraints = sum(_items(constraints) for constraints in _members(arguments, "defaultConstraints"))
        if constraints > MAX_POD_TERMS:
            raise CommandRefused(
                f"the default spread constraints have {constraints:,} terms; at most {MAX_POD_TERMS} are allowed.",
                path=path,
            )
        size = len(msgspec.json.encode(arguments))
        if size > MAX_ARGUMENT_BYTES:
            raise CommandRefused(
                f"the plugins' arguments have {size:,} bytes of JSON; at most {MAX_ARGUMENT_BYTES:,} are allowed. Shorten their texts.",
                path=path,
            )


def validate_command_bytes(command: AnyCommand) -> None:
    """Raises `CommandRefused` if the JSON of a command is too large."""
    size = len(encode_command(command))
    if size > MAX_COMMAND_BYTES:
        raise CommandRefused(
            f"the command has {size:,} bytes of JSON; at most {MAX_COMMAND_BYTES:,} are allowed, as for an object in etcd. "
            "Larger inputs can be imported as files.",
            path=next((name for name in ("object", "config") if hasattr(command, name)), ""),
        )


def validate_terms(obj: Mapping[str, Any]) -> None:
    """Raises `CommandRefused` if a pod or a workload's pod template, given as its JSON, has too many scheduling terms or requests too many
    resources.
    """
    path, spec = "spec", obj.get("spec") or {}
    if obj.get("kind") in _WORKLOADS:
        path, spec = "spec.template.spec", (spec.get("template") or {}).get("spec") or {}
    elif obj.get("kind") != "Pod":
        return
    terms = sum(_items(spec.get(name)) for name in _TERMS) + len(spec.get("nodeSelector") or ())
    if terms > MAX_TERMS:
        raise CommandRefused(
            f"nodeSelector, affinity, tolerations, topologySpreadConstraints and schedulingGates have {terms:,} terms; "
            f"at most {MAX_TERMS:,} are allowed.",
            path=path,
        )
    affinity = spec.get("affinity") or {}
    compared = [spec.get("topologySpreadConstraints"), affinity.get("podAffinity"), affinity.get("podAntiAffinity")]
    pod_terms = sum(map(_items, compared))
    if pod_terms > MAX_POD_TERMS:
        raise CommandRefused(
            f"topologySpreadConstraints, podAffinity and podAntiAffinity have {pod_terms:,} terms, with those of their selectors; "
            f"at most {MAX_POD_TERMS} are allowed, because each is compared with every pod.",
            path=path,
        )
    ports = sum(_items(container.get("ports")) for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())))
    volumes = len(spec.get("volumes") or ())
    for number, kind in ((ports, "ports"), (volumes, "volumes")):
        if number > MAX_TERMS:
            raise CommandRefused(f"there are {number:,} {kind}; at most {MAX_TERMS:,} are allowed for one pod.", path=path)
    resources = len(_resources(spec))
    if resources > MAX_TERMS:
        raise CommandRefused(f"the containers request {resources:,} different resources; at most {MAX_TERMS:,} are allowed.", path=path)


def _resources(spec: Mapping[str, Any]) -> set[str]:
    """The names of the resources that a pod's containers, and the pod as a whole, request."""
    having = [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    lists = [(container.get("resources") or {}).get(kind) or {} for container in having for kind in ("requests", "limits")]
    return {name for amounts in (*lists, spec.get("overhead") or {}) for name in amounts}


def _members(value: object, name: str) -> Iterator[object]:
    """The members with this name, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from [inner] if key == name else _members(inner, name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _members(inner, name)


def _items(value: object) -> int:
    """The number of items in all lists of a value, and of labels to match, excluding the values of requirements, which are looked up in a
    set.
    """
    if isinstance(value, Mapping):
        labels = value.get("matchLabels")
        return sum(_items(inner) for name, inner in value.items() if name != "values") + (len(labels) if isinstance(labels, Mapping) else 0)
    return sum(1 + _items(inner) for inner in value) if isinstance(value, list | tuple) else 0
