"""Pods that wait at Permit until every plugin that made them wait allows them, one rejects them, or a timeout ends.

Upstream: framework/runtime/waiting_pods_map.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from schedviz.engine.framework.status import SUCCESS, Status, as_status, unschedulable
from schedviz.engine.framework.types import NANOS_PER_SECOND, PodInfo


class PendingPlugin(msgspec.Struct, frozen=True):
    """A plugin that has not allowed the pod yet: its timeout, and when it ends (nanoseconds of virtual time)."""

    timeout: int
    deadline: int


class WaitingPod:
    """A pod waiting in the permit phase. Upstream: framework/runtime/waiting_pods_map.go waitingPod"""

    __slots__ = ("pending", "pod", "signal")

    def __init__(self, pod: PodInfo, timeouts: Mapping[str, int], now: int) -> None:
        self.pod = pod
        self.pending = {plugin: PendingPlugin(timeout, now + timeout) for plugin, timeout in timeouts.items()}
        #: The first decision; None: the pod still waits.
        self.signal: Status | None = None

    @property
    def deadline(self) -> int:
        """When the pod is rejected unless it is allowed."""
        return min(plugin.deadline for plugin in self.pending.values())

    def allow(self, plugin: str) -> None:
        """Allow the pod for one plugin; the last one's decision counts. Upstream: waitingPod.Allow"""
        self.pending.pop(plugin, None)
        if not self.pending and self.signal is None:
            self.signal = SUCCESS

    def reject(self, plugin: str, message: str) -> bool:
        """Reject the pod. False: a decision was made before. Upstream: waitingPod.Reject"""
        if self.signal is not None:
            return False
        self.signal = unschedulable(message).with_failed_plugin(plugin)
        return True

    def preempt(self, plugin: str, message: str) -> bool:
        """Stop the pod's binding with an error, so that the pod is not unschedulable. False: a decision was made before.

        Upstream: waitingPod.Preempt
        """
        if self.signal is not None:
            return False
        self.signal = as_status(message).with_failed_plugin(plugin)
        return True

    def expire(self, now: int) -> None:
        """Reject the pod if a plugin's timeout has ended."""
        due = sorted((pending.deadline, name, pending.timeout) for name, pending in self.pending.items() if pending.deadline <= now)
        if due:
            _, name, timeout = due[0]
            self.reject(name, f"rejected due to timeout after waiting {go_duration(timeout)} at plugin {name}")


class WaitingPods:
    """All waiting pods, by uid. Upstream: framework/runtime/waiting_pods_map.go waitingPodsMap"""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def add(self, pod: WaitingPod) -> None:
        self._pods[pod.pod.uid] = pod

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def all(self) -> list[WaitingPod]:
        """In the order in which they started to wait."""
        return list(self._pods.values())

    def to_state(self) -> list[dict[str, Any]]:
        """Plain data, for a checkpoint."""
        return [
            {
                "uid": uid,
                "pending": {name: [plugin.timeout, plugin.deadline] for name, plugin in waiting.pending.items()},
                "signal": None if waiting.signal is None else msgspec.to_builtins(waiting.signal),
            }
            for uid, waiting in self._pods.items()
        ]

    def restore(self, data: list[dict[str, Any]], pod_of: Callable[[str], PodInfo]) -> None:
        """Load the data of `to_state`; `pod_of` finds a pod by uid."""
        self._pods.clear()
        for entry in data:
            waiting = WaitingPod(pod_of(entry["uid"]), {}, 0)
            waiting.pending = {name: PendingPlugin(timeout, deadline) for name, (timeout, deadline) in entry["pending"].items()}
            waiting.signal = None if entry["signal"] is None else msgspec.convert(entry["signal"], Status)
            self.add(waiting)


def go_duration(nanos: int) -> str:
    """A duration in the format of Go's time.Duration: `1m30s`, `1.5s`, `250ms`."""
    if nanos < NANOS_PER_SECOND:
        for unit, size in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if nanos >= size:
                return f"{_decimal(nanos, size)}{unit}"
        return "0s"
    minutes, rest = divmod(nanos, 60 * NANOS_PER_SECOND)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, NANOS_PER_SECOND)}s"
    return f"{hours}h{minutes}m{seconds}" if hours else f"{minutes}m{seconds}" if minutes else seconds


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
