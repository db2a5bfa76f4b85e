"""Reads from descriptions which pods no scheduler has tried: they ask for a scheduler other than kube-scheduler, and have no events."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

_POD: Final = re.compile(r"^Name:[ \t]++(?P<name>\S++)[ \t]*+$", re.MULTILINE)
_NAMESPACE: Final = re.compile(r"^Namespace:[ \t]++(\S++)", re.MULTILINE)
_SCHEDULER: Final = re.compile(r"^Scheduler Name:[ \t]++([a-z0-9][a-z0-9.-]{0,252})[ \t]*+$", re.MULTILINE)
_NO_EVENTS: Final = re.compile(r"^Events:[ \t]++<none>", re.MULTILINE)
_NODE: Final = re.compile(r"^Node:[ \t]++(?!<none>)\S", re.MULTILINE)
_DEFAULT: Final = "default-scheduler"


def untried_pods(text: str) -> Iterator[tuple[str, str]]:
    """Of each such pod `namespace/name`, and the lines that say so in one: `Scheduler Name: volcano; Events: <none>`."""
    starts = [match.start() for match in _POD.finditer(text)]
    for start, end in itertools.pairwise((*starts, len(text))):
        part = text[start:end]
        name = _POD.match(part)
        scheduler, namespace = _SCHEDULER.search(part), _NAMESPACE.search(part)
        if (
            name is None
            or scheduler is None
            or scheduler[1] == _DEFAULT
            or _NO_EVENTS.search(part) is None
            or _NODE.search(part) is not None
        ):
            continue
        yield f"{namespace[1] if namespace is not None else 'default'}/{name['name']}", f"Scheduler Name: {scheduler[1]}; Events: <none>"
