"""PrioritySort: higher priority first, then the longer wait. Upstream: framework/plugins/queuesort/priority_sort.go"""

from __future__ import annotations

from typing import Any

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import QueuedPodInfo


class PrioritySort:
    name = names.PRIORITY_SORT

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        first_priority, second_priority = first.pod_info.priority, second.pod_info.priority
        return first_priority > second_priority or (first_priority == second_priority and first.timestamp < second.timestamp)
