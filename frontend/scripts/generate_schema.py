"""Writes `src/editor/schema.json`: what the editor of objects and configurations knows, as JSON Schema of the engine's own structs.

    python -m frontend.scripts.generate_schema [--check]

`x-unread` lists members of Kubernetes that the scheduler does not read; `x-kinds` and `x-plugins` are what there is to choose from.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from schedviz.engine.config.default_plugins import DEFAULT_PLUGINS
from schedviz.engine.config.plugin_args import ARGS_BY_PLUGIN
from schedviz.engine.config.types import EXTENSION_POINTS, KubeSchedulerConfiguration
from schedviz.engine.releases.v1_27_plugins import in_tree_registry
from schedviz.kube.json_names import camel
from schedviz.kube.kinds import KINDS
from schedviz.kube.quantity import Quantity
from schedviz.kube.shapes import unread_names
from schedviz.kube.unread import DIGESTS, UNREAD
from schedviz.trace.releases import DEFAULT_RELEASE
from schedviz.web.wire_schema import write_or_check

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
    structs = [*(kind.type for kind in KINDS), KubeSchedulerConfiguration, *ARGS_BY_PLUGIN.values()]
    _, definitions = msgspec.json.schema_components(structs, schema_hook=_foreign, ref_template="#/$defs/{name}")
    unread = {struct.__name__: list(unread_names(struct)) for struct in UNREAD}
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-kinds": {kind.name: {"apiVersion": kind.api_version, "namespaced": kind.namespaced} for kind in KINDS},
        "x-plugins": _plugins(),
        "x-args": {plugin: args.__name__ for plugin, args in sorted(ARGS_BY_PLUGIN.items())},
        "$defs": {name: _struct(name, schema, unread.get(name, [])) for name, schema in sorted(definitions.items())},
    }
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False) + "\n"


def _foreign(type_: type) -> dict[str, Any]:
    if type_ is Quantity:
        return {"type": ["string", "number"], "format": "quantity"}
    raise NotImplementedError(type_)


def _plugins() -> list[dict[str, Any]]:
    """Every plugin in the order of the default ones: its default weight (no member: it is off) and its extension points."""
    weights = {plugin.name: plugin.weight for plugin in DEFAULT_PLUGINS[DEFAULT_RELEASE].multi_point.enabled}
    others = sorted(set(in_tree_registry()) - set(weights))
    return [
        {"name": name, "points": points, **({"weight": weights[name]} if name in weights else {})}
        for name in [*weights, *others]
        if (points := _points(name))
    ]


def _points(plugin: str) -> list[str]:
    """The extension points that a plugin implements, as members of `plugins` are called."""
    made: Any = in_tree_registry()[plugin]
    methods = {"queue_sort": "less"}
    return [camel(point) for point in EXTENSION_POINTS if hasattr(made, methods.get(point, point))]


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
