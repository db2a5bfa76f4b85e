"""Host ports: which pods use the ports that the pod requests."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine.framework.types import DEFAULT_BIND_ALL_HOST_IP, HostPort, HostPortInfo
from schedviz.explain.details.detail import MAX_NAMES, PodOnNode, PortDetail
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.explain.details.short_names import ShortNames
from schedviz.trace.phrase import phrase


def port_details(rejected: RejectedNodes) -> Iterator[PortDetail]:
    """Each requested host port that is in use on one of the nodes."""
    short = ShortNames(rejected.everywhere.names)
    for port in rejected.pod.host_ports:
        in_use = [info for info in rejected.rows.infos if info.used_ports.check_conflict(port)]
        if not in_use:
            continue
        pods = [
            PodOnNode(pod.key, info.name)
            for info in in_use[:MAX_NAMES]
            for pod in info.pods
            if any(_conflict(used, port) for used in pod.host_ports)
        ]
        printed = f"{port.protocol} {port.port}" + ("" if port.ip == DEFAULT_BIND_ALL_HOST_IP else f" on {port.ip}")
        values = {"port": printed, "pod": pods[0].pod if pods else phrase("a pod"), "node": short.of(in_use[0].name)}
        sentence = (
            phrase("host port {port} is in use by {pod} on {node}", **values)
            if len(in_use) == 1
            else phrase("host port {port} is in use on {count} nodes, for example by {pod} on {node}", count=len(in_use), **values)
        )
        yield PortDetail(sentence=sentence.text, sentence_phrase=sentence, port=printed, nodes=len(in_use), pods=tuple(pods[:MAX_NAMES]))


def _conflict(used: HostPort, requested: HostPort) -> bool:
    used_ports = HostPortInfo()
    used_ports.add(used)
    return used_ports.check_conflict(requested)
