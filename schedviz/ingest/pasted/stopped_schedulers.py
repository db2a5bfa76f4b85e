"""Reads from tables of pods whether kube-scheduler itself has stopped: no pod gets a node then, and none has an event that says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.kubectl.tables import tables

_SCHEDULER: Final = re.compile(r"(?:openshift-)?kube-scheduler(?:-[a-z0-9.-]+)?")
_RUNNING: Final = "Running"
#: Pods of OpenShift beside the scheduler, and pods that ended on purpose.
_OTHER_PODS: Final = re.compile(r".*(?:guard|installer|revision-pruner|operator).*")


def stopped_schedulers(text: str) -> Iterator[tuple[str, str]]:
    """`namespace/name` of each pod of kube-scheduler, and its state in words, if none of them runs."""
    rows = [row for table in tables(text) if table.is_of_pods for row in table.rows if _is_scheduler(row.get("NAME", ""))]
    if not rows or any(row.get("STATUS") == _RUNNING and not row.get("READY", "").startswith("0/") for row in rows):
        return
    for row in rows:
        state = row.get("STATUS", "")
        yield f"{row.get('NAMESPACE', 'kube-system')}/{row['NAME']}", f"kube-scheduler does not run: {state or 'unknown'}"


def _is_scheduler(name: str) -> bool:
    return _SCHEDULER.fullmatch(name) is not None and _OTHER_PODS.fullmatch(name) is None
