"""DefaultBinder: writes the pod's Binding. Upstream: framework/plugins/defaultbinder/default_binder.go"""

from __future__ import annotations

from typing import Any

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.status import Status, as_status
from schedviz.engine.framework.types import PodInfo


class DefaultBinder:
    name = names.DEFAULT_BINDER

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        return as_status(self._handle.client.bind(pod, node_name))
