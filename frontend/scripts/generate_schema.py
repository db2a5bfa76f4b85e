"""Writes `src/editor/schema.json`: what the editor of objects and configurations knows, as JSON Schema of the engine's own structs.

    python -m frontend.scripts.generate_schema [--check]

`x-unread` lists members of Kubernetes that the scheduler does not read; `x-kinds` and `x-plugins` are what there is to choose from.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from schedviz.engine.config.default_plugins import REQUIRED_FEATURES
from schedviz.engine.config.plugin_args import ARGS_BY_PLUGIN_V1_36
from schedviz.engine.config.rules import RULES
from schedviz.engine.config.types_v1_36 import KubeSchedulerConfiguration, Plugins
from schedviz.engine.features import features_of
from schedviz.engine.framework.runtime.plugin_lists import Registry
from schedviz.engine.releases import v1_27_plugins, v1_36_plugins
from schedviz.kube.json_names import camel
from schedviz.kube.kinds import KINDS
from schedviz.kube.quantity import Quantity
from schedviz.kube.shapes import unread_names
from schedviz.kube.unread import DIGESTS, UNREAD
from schedviz.trace import releases
from schedviz.web.wire_schema import write_or_check

#: The plugins of each release.
REGISTRIES: Final[Mapping[str, Registry]] = {releases.V1_27: v1_27_plugins.in_tree_registry(), releases.V1_36: v1_36_plugins.in_tree_registry()}
TARGET = Path(__file__).parent.parent / "src/editor/schema.json"
#: Members that hold what was left out: nobody writes them.
HIDDEN: Final = {*DIGESTS, "unreadAnnotations", "unreadSpec"}
#: Values that upstream's API lists and our structs take as text, by struct and member.
CHOICES: Final[dict[tuple[str, str], list[str]]] = {
    ("Taint", "effect"): ["NoSchedule", "PreferNoSchedule", "NoExecute"],
    ("Toleration", "effect"): ["NoSchedule", "PreferNoSchedule", "NoExecute"],
    ("Toleration", "operator"): ["Exists", "Equal", "Gt", "Lt"],
    ("DeviceTaint", "effect"): ["None", "NoSchedule", "NoExecute"],
    ("DeviceToleration", "operator"): ["Exists", "Equal"],
    ("DeviceToleration", "effect"): ["NoSchedule", "NoExecute"],
    ("ExactDeviceRequest", "allocationMode"): ["ExactCount", "All"],
    ("DeviceSubRequest", "allocationMode"): ["ExactCount", "All"],
    ("Container", "restartPolicy"): ["Always", "OnFailure", "Never"],
    ("PodGroupSpec", "disruptionMode"): ["Pod", "PodGroup"],
    ("NodeSelectorRequirement", "operator"): ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"],
    ("LabelSelectorRequirement", "operator"): ["In", "NotIn", "Exists", "DoesNotExist"],
    ("TopologySpreadConstraint", "whenUnsatisfiable"): ["DoNotSchedule", "ScheduleAnyway"],
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): ["Honor", "Ignore"],
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): ["Honor", "Ignore"],
    ("PodSpec", "preemptionPolicy"): ["PreemptLowerPriority", "Never"],
    ("PriorityClass", "preemptionPolicy"): ["PreemptLowerPriority", "Never"],
    ("StorageClass", "volumeBindingMode"): ["Immediate", "WaitForFirstConsumer"],
    ("ScoringStrategy", "type"): ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"],
    ("PodTopologySpreadArgs", "defaultingType"): ["System", "List"],
    ("ContainerPort", "protocol"): ["TCP", "UDP", "SCTP"],
}


def generate() -> str:
    structs = [*(kind.type for kind in KINDS), KubeSchedulerConfiguration, *ARGS_BY_PLUGIN_V1_36.values()]
    _, definitions = msgspec.json.schema_components(structs, schema_hook=_foreign, ref_template="#/$defs/{name}")
    unread = {struct.__name__: list(unread_names(struct)) for struct in UNREAD}
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-kinds": {kind.name: {"apiVersion": kind.api_version, "namespaced": kind.namespaced} for kind in KINDS},
        "x-plugins": {release: _plugins(release) for release in REGISTRIES},
        "x-args": {plugin: args.__name__ for plugin, args in sorted(ARGS_BY_PLUGIN_V1_36.items())},
        "$defs": {name: _struct(name, schema, unread.get(name, [])) for name, schema in sorted(definitions.items())},
    }
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False) + "\n"


def _foreign(type_: type) -> dict[str, Any]:
    if type_ is Quantity:
        return {"type": ["string", "number"], "format": "quantity"}
    raise NotImplementedError(type_)


def _plugins(release: str) -> list[dict[str, Any]]:
    """Every plugin that a release accepts, in the order of the default ones: its default weight (no member: it is off), and its extension points.

    `gate`: the feature gate without which it is not among the defaults, and whether that gate is on by default.
    """
    rules, registry = RULES[release], REGISTRIES[release]
    weights = {plugin.name: plugin.weight for plugin in rules.default_plugins.multi_point.enabled}
    others = sorted(set(registry) - set(weights) - rules.removed_plugins)
    return [
        {"name": name, "points": points, **({"weight": weights[name]} if name in weights else {}), **_gate(name, release)}
        for name in [*weights, *others]
        if (points := _points(registry, name))
    ]


def _gate(plugin: str, release: str) -> dict[str, Any]:
    gates = RULES[release].gates
    if plugin not in REQUIRED_FEATURES or not gates:
        return {}
    member = REQUIRED_FEATURES[plugin]
    name = next(name for name, gate in gates.items() if gate.member == member)
    return {"gate": {"name": name, "default": getattr(features_of(gates, {}), member)}}


def _points(registry: Registry, plugin: str) -> list[str]:
    """The extension points that a plugin implements, as members of `plugins` are called."""
    methods = {"queue_sort": "less", "placement_generate": "generate_placements", "placement_score": "score_placement"}
    points = [field for field in Plugins.__struct_fields__ if field != "multi_point"]
    return [camel(point) for point in points if hasattr(registry[plugin], methods.get(point, point))]


def _struct(name: str, schema: dict[str, Any], unread: list[str]) -> dict[str, Any]:
    properties = {
        member: {**_plain(value), **({"enum": CHOICES[name, member]} if (name, member) in CHOICES else {})}
        for member, value in schema.get("properties", {}).items()
        if member not in HIDDEN
    }
    about = " ".join(schema.get("description", "").partition("\n\n")[0].split())
    about = re.sub(r"`([a-z]+(?:_[a-z]+)+)`", lambda found: f"`{camel(found[1])}`", about)
    return {"description": about, "properties": properties, **({"x-unread": unread} if unread else {})}


def _plain(schema: Any) -> Any:
    """A schema without what the editor does not use: defaults, titles, and that something may be null."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema:
        choices = [choice for choice in schema["anyOf"] if choice.get("type") != "null"]
        if len(choices) == 1:
            return _plain(choices[0])
    return {key: _plain(value) for key, value in schema.items() if key not in ("default", "title", "description")}


def main() -> int:
    stale = f"{TARGET.name} is not what schedviz/kube says: run python -m frontend.scripts.generate_schema"
    return write_or_check(TARGET, generate(), sys.argv[1:], stale)


if __name__ == "__main__":
    sys.exit(main())
