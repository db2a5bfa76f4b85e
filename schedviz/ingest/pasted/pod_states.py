"""Reads why pods wait from texts without a message of a scheduler: tables and descriptions of pods, and the events of claims."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schedviz.ingest.kubectl.tables import pod_name, tables
from schedviz.ingest.pasted.unavailable_nodes import unavailable_nodes
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.pod_status import GATED, PLACED, STATUS, STATUS_OF_FAILED, STATUS_OF_KUBELET

#: What follows the status of a gated pod if an event of the same text says that Kueue has admitted the only such pod.
ADMITTED: Final = " (Kueue's event: Admitted)"
_ADMISSION: Final = re.compile(r"\bAdmitted by (?:ClusterQueue|clusterQueue) [a-z0-9]")
#: In the place of a message: the nodes that take no new pods.
NODES: Final = "unavailable nodes: "
_MAX_PODS: Final = 50
#: In the place of a message: a description whose events have expired, and one of a pod that no scheduler has tried.
EXPIRED: Final = "Events: <none>; PodScheduled False"
NO_EVENTS: Final = "Events: <none>, without the condition PodScheduled"
_NAME: Final = re.compile(r"^Name:[ \t]++(?P<name>\S++)[ \t]*+$", re.MULTILINE)
_NAMESPACE: Final = re.compile(r"^Namespace:[ \t]++(\S++)", re.MULTILINE)
_NODE: Final = re.compile(r"^Node:[ \t]++(?P<node>[a-z0-9*][a-z0-9.*-]*+)(?:/|[ \t]*+$)", re.MULTILINE)
_NODE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")
_PENDING: Final = re.compile(r"^Status:[ \t]++Pending[ \t]*+$", re.MULTILINE)
#: A description without events.
WITHOUT_EVENTS: Final = re.compile(r"^Events:[ \t]++<none>", re.MULTILINE)
_TRIED: Final = re.compile(r"^[ \t]++PodScheduled[ \t]++False\b", re.MULTILINE)
_WAITING: Final = re.compile(r"^[ \t]++State:[ \t]++Waiting[ \t]*+\n[ \t]++Reason:[ \t]++(?P<reason>[A-Za-z]++)", re.MULTILINE)
_IS_CLAIM: Final = re.compile(r"^(?:StorageClass|Access Modes):", re.MULTILINE)
_SCHEDULER: Final = re.compile(r"^Scheduler Name:[ \t]++(?!default-scheduler\b)\S", re.MULTILINE)
#: The reason of the event that ends the wait.
_PROVISIONED: Final = "ProvisioningSucceeded"
_CLAIM_WAITS: Final = re.compile(
    r"waiting for (?:first consumer to be created before binding|pods? [a-z0-9][a-z0-9.,-]{0,250} to be scheduled"
    r"|a volume to be created, either by (?:the )?external provisioner [\"'a-zA-Z0-9./-]{1,255} or manually)"
)


def pod_states(text: str) -> Iterator[PodMessage]:
    """What stands in the place of messages, by pod, or by claim."""
    described = list(_described(text))
    yield from described
    if not described:
        yield from _states_of_tables(text)
    # The newest event of a claim is the last one.
    if (waits := list(_CLAIM_WAITS.finditer(text))) and not described and _PROVISIONED not in text[waits[-1].end() :]:
        parts = [part for part in descriptions(text) if _IS_CLAIM.search(part) is not None]
        yield PodMessage(key_of(parts[0]) if len(parts) == 1 else "", waits[-1][0])


def descriptions(text: str) -> Iterator[str]:
    """The descriptions in a text, each from its name on."""
    starts = [match.start() for match in _NAME.finditer(text)]
    return (text[start:end] for start, end in itertools.pairwise((*starts, len(text))))


def key_of(part: str) -> str:
    """`namespace/name` of a description."""
    name, namespace = _NAME.search(part), _NAMESPACE.search(part)
    assert name is not None
    return f"{namespace[1] if namespace is not None else 'default'}/{name['name']}"


def key_of_row(row: Mapping[str, str]) -> str:
    """`namespace/name` of a table's row."""
    return f"{row.get('NAMESPACE', 'default')}/{pod_name(row)}"


def _described(text: str) -> Iterator[PodMessage]:
    for part in descriptions(text):
        if _PENDING.search(part) is None or _IS_CLAIM.search(part) is not None or _SCHEDULER.search(part) is not None:
            continue
        node, waiting = _NODE.search(part), _WAITING.search(part)
        if node is not None:
            why = f"; {waiting['reason']}" if waiting is not None else ""
            yield PodMessage(key_of(part), f"{PLACED}{node['node']}{why}")
        elif WITHOUT_EVENTS.search(part) is not None:
            yield PodMessage(key_of(part), EXPIRED if _TRIED.search(part) is not None else NO_EVENTS)


def _states_of_tables(text: str) -> Iterator[PodMessage]:
    rows = [row for table in tables(text) if table.is_of_pods for row in table.rows]
    gated = [row for row in rows if row.get("STATUS") == GATED]
    pending = [row for row in rows if row.get("STATUS") == "Pending"]
    if pending:
        # The events of these are asked for.
        if nodes := unavailable_nodes(text):
            yield from (PodMessage(key_of_row(row), f"{NODES}{', '.join(nodes)}") for row in pending[:_MAX_PODS])
        return
    stuck = [row for row in rows if STATUS_OF_KUBELET.fullmatch(row.get("STATUS", ""))]
    failed = [row for row in rows if STATUS_OF_FAILED.fullmatch(row.get("STATUS", ""))]
    if not (gated or stuck or failed):
        yield from _on_lost_nodes(text, rows)
    for row in gated or stuck or failed:
        on = f" ({node})" if row in failed and _NODE_NAME.fullmatch(node := row.get("NODE", "")) else ""
        admitted = ADMITTED if len(gated) == 1 and _ADMISSION.search(text) is not None else ""
        yield PodMessage(key_of_row(row), f"{STATUS}{row['STATUS']}{on}{admitted}")


def _on_lost_nodes(text: str, rows: Sequence[Mapping[str, str]]) -> Iterator[PodMessage]:
    """The pods that cannot end, because the node on which they run is not ready."""
    lost = {
        row["NAME"] for table in tables(text) if table.is_of_nodes for row in table.rows if row.get("STATUS", "").startswith("NotReady")
    }
    ending = [row for row in rows if row.get("STATUS") == "Terminating" and row.get("NODE") in lost]
    yield from (PodMessage(key_of_row(row), f"Terminating on {row['NODE']}, which is NotReady") for row in ending[:_MAX_PODS])
