"""Pods whose last attempt failed, and gated pods. Upstream: internal/queue/scheduling_queue.go UnschedulablePods"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedviz.engine.framework.types import QueuedPodInfo


class UnschedulablePods:
    """Pods by key (`namespace/name`), in the order in which they were added."""

    def __init__(self) -> None:
        self._pods: dict[str, QueuedPodInfo] = {}
        #: Pods with required pod affinity. An assigned pod can help no others.
        self._with_required_affinity: dict[str, QueuedPodInfo] = {}

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
        self._pods[queued.key] = queued
        affinity = queued.pod_info.terms_of.spec.affinity
        if affinity is not None and affinity.pod_affinity is not None and affinity.pod_affinity.required:
            self._with_required_affinity[queued.key] = queued
        else:
            self._with_required_affinity.pop(queued.key, None)

    def delete(self, key: str) -> None:
        """Remove a pod, if it is here."""
        self._pods.pop(key, None)
        self._with_required_affinity.pop(key, None)

    def with_required_affinity(self) -> Iterable[QueuedPodInfo]:
        """The pods that have a required pod affinity term."""
        return self._with_required_affinity.values()
