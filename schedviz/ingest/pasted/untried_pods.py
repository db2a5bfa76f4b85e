"""Reads from descriptions which pods no scheduler has tried: they ask for a scheduler other than kube-scheduler, and have no events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.pasted.pod_states import WITHOUT_EVENTS, descriptions, key_of
from schedviz.kube.defaults import DEFAULT_SCHEDULER_NAME

_SCHEDULER: Final = re.compile(r"^Scheduler Name:[ \t]++([a-z0-9][a-z0-9.-]{0,252})[ \t]*+$", re.MULTILINE)
_NODE: Final = re.compile(r"^Node:[ \t]++(?!<none>)\S", re.MULTILINE)


def untried_pods(text: str) -> Iterator[tuple[str, str]]:
    """Of each such pod `namespace/name`, and the lines that say so in one: `Scheduler Name: volcano; Events: <none>`."""
    for part in descriptions(text):
        scheduler = _SCHEDULER.search(part)
        if (
            scheduler is None
            or scheduler[1] == DEFAULT_SCHEDULER_NAME
            or WITHOUT_EVENTS.search(part) is None
            or _NODE.search(part) is not None
        ):
            continue
        yield key_of(part), f"Scheduler Name: {scheduler[1]}; Events: <none>"
