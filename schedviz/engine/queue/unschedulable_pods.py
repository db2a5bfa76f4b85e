"""Pods whose last attempt failed, and gated pods.

Upstream: v1.27.1 internal/queue/scheduling_queue.go UnschedulablePods; v1.36 backend/queue/scheduling_queue.go unschedulablePods
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schedviz.engine.framework.types import QueuedPodInfo


def full_name_of(queued: QueuedPodInfo) -> str:
    """`name_namespace`."""
    return queued.pod_info.full_name


class UnschedulablePods:
    """Pods by key (`namespace/name`), in the order in which they were added."""

    def __init__(self) -> None:
        self._pods: dict[str, QueuedPodInfo] = {}
        #: Pods with required pod affinity. In v1.27.1 an assigned pod can help no others; v1.36 asks the hints of all pods.
        self._with_required_affinity: dict[str, QueuedPodInfo] = {}
        #: The result of `by_full_name`, until a pod is added or removed.
        self._by_full_name: list[QueuedPodInfo] | None = None

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        return iter(self._pods.values())

    def get(self, key: str) -> QueuedPodInfo | None:
        """The pod with this key."""
        return self._pods.get(key)

    def add_or_update(self, queued: QueuedPodInfo) -> None:
        """Add or replace a pod; a pod that is here keeps its position."""
        if self._pods.get(queued.key) is not queued:
            self._by_full_name = None
        self._pods[queued.key] = queued
        affinity = queued.pod_info.terms_of.spec.affinity
        if affinity is not None and affinity.pod_affinity is not None and affinity.pod_affinity.required:
            self._with_required_affinity[queued.key] = queued
        else:
            self._with_required_affinity.pop(queued.key, None)

    def delete(self, key: str) -> None:
        """Remove a pod, if it is here."""
        if self._pods.pop(key, None) is not None:
            self._by_full_name = None
        self._with_required_affinity.pop(key, None)

    def by_full_name(self) -> Sequence[QueuedPodInfo]:
        """The pods in the order of `name_namespace`, as they are now."""
        if self._by_full_name is None:
            self._by_full_name = sorted(self._pods.values(), key=full_name_of)
        return self._by_full_name

    def with_required_affinity(self) -> Iterable[QueuedPodInfo]:
        """The pods that have a required pod affinity term."""
        return self._with_required_affinity.values()
