"""The zone of a node, from its labels. Upstream: component-helpers/node/topology/helpers.go"""

from __future__ import annotations

from typing import Final

from schedviz.kube.core import Node

_REGION_LABELS: Final = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONE_LABELS: Final = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


def zone_key(node: Node) -> str:
    """`region:\\x00:zone`, or "" without any. The beta labels take precedence, even if they are empty.

    Upstream: GetZoneKey
    """
    labels = node.metadata.labels
    region, zone = (next((labels[key] for key in keys if key in labels), "") for keys in (_REGION_LABELS, _ZONE_LABELS))
    return f"{region}:\x00:{zone}" if region or zone else ""
