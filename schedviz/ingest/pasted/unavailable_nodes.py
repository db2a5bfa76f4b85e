"""`unavailable_nodes`: the nodes in a text that take no new pods, as tables and descriptions of nodes show them."""

from __future__ import annotations

import re
from typing import Final

from schedviz.ingest.kubectl.described_objects import described_nodes
from schedviz.ingest.kubectl.tables import tables

#: Taints that the state of a node causes.
_STATE: Final = "node.kubernetes.io/"
#: A part of a description without its beginning: the first taint, and the name in the node's lease.
_TAINT: Final = re.compile(r"^Taints:[ \t]++(?P<taint>node\.kubernetes\.io/[a-z-]{1,40}):No", re.MULTILINE)
_HOLDER: Final = re.compile(r"^[ \t]++HolderIdentity:[ \t]++(?P<node>[a-z0-9][a-z0-9.-]{0,252})", re.MULTILINE)
_MAX_NODES: Final = 3


def unavailable_nodes(text: str) -> list[str]:
    """Each of the first few with its state, as kubectl prints it: `node-a NotReady`, `node-b node.kubernetes.io/disk-pressure`."""
    found: dict[str, str] = {}
    for table in tables(text):
        for row in table.rows if table.is_of_nodes else ():
            if row.get("STATUS", "Ready") != "Ready":
                found[row["NAME"]] = row["STATUS"]
    for node in described_nodes(text):
        states = [taint for taint in node.taints if taint.startswith(_STATE)]
        if states:
            found[node.name] = states[0]
    if not found and (taint := _TAINT.search(text)) is not None:
        holder = _HOLDER.search(text)
        found[holder["node"] if holder is not None else "NODE"] = taint["taint"]
    return [f"{node} {state}" for node, state in list(found.items())[:_MAX_NODES]]
