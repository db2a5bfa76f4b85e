"""The meaning of the reasons in a FitError, and of the scheduler's other messages, with their usual causes and what to do."""

from __future__ import annotations

import re
from typing import Final

from schedviz.explain.meaning import Meaning, Row
from schedviz.explain.reason_tables.autoscalers import AUTOSCALERS
from schedviz.explain.reason_tables.creation import CREATION
from schedviz.explain.reason_tables.devices import DEVICES
from schedviz.explain.reason_tables.nodes import NODES
from schedviz.explain.reason_tables.placement import PLACEMENT
from schedviz.explain.reason_tables.preemption import PREEMPTION
from schedviz.explain.reason_tables.volumes import VOLUMES
from schedviz.explain.reason_tables.whole import WHOLE

TABLE: Final[tuple[Row, ...]] = (*NODES, *PLACEMENT, *VOLUMES, *DEVICES, *PREEMPTION, *WHOLE, *AUTOSCALERS, *CREATION)
#: For a reason that no table has.
UNKNOWN: Final = Meaning(
    "",
    "no default plugin of kube-scheduler 1.14 to 1.36 gives this reason",
    ("a plugin of your own, an extender, or another scheduler", "the text was cut or retyped"),
    "look for the words in the configuration and the logs of your scheduler",
)
#: Longer reasons are not examined: no scheduler writes them.
_MAX_LENGTH: Final = 2_000

_COMPILED: Final = tuple((re.compile(pattern, re.IGNORECASE), meaning) for pattern, meaning in TABLE)


def meaning_of(reason: str) -> Meaning | None:
    """The meaning of a reason; None if no default plugin gives it."""
    if len(reason) > _MAX_LENGTH:
        return None
    for pattern, meaning in _COMPILED:
        match = pattern.fullmatch(reason)
        if match is not None:
            return meaning._replace(values={key: _plain(value or "") for key, value in match.groupdict().items()})
    return None


def _plain(value: str) -> str:
    """Karpenter's amounts, `{"cpu":"96","memory":"2Gi"}`, as `cpu 96, memory 2Gi`; other values as they are."""
    if not value.startswith('{"'):
        # A quota's amounts: `requests.cpu=2,requests.memory=4Gi`.
        return value.replace(",", ", ") if value.count("=") > 1 and " " not in value else value
    return value.strip("{}").replace('"', "").replace(":", " ").replace(",", ", ")
