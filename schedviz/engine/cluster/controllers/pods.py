"""Queries about pods, for the controllers."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine.clock import EPOCH_SECONDS, nanoseconds
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.core import Pod
from schedviz.kube.meta import condition_of
from schedviz.kube.timestamps import parse_timestamp


def all_pods(store: ObjectStore, namespace: str | None = None) -> Iterator[Pod]:
    """All pods in order of creation, of one namespace or of all."""
    for pod in store.of_kind("Pod").values():
        if isinstance(pod, Pod) and namespace in (None, pod.namespace):
            yield pod


def is_ready(pod: Pod) -> bool:
    """Whether the pod has the condition Ready. Upstream: pkg/api/v1/pod/util.go IsPodReady"""
    ready = condition_of(pod.status.conditions, "Ready")
    return ready is not None and ready.status == "True"


def is_active(pod: Pod) -> bool:
    """Whether the pod counts for its controller. Upstream: pkg/controller/controller_utils.go IsPodActive"""
    return not pod.is_finished and pod.metadata.deletion_timestamp is None


def moment_of(timestamp: str) -> int:
    """A timestamp on the virtual clock, in nanoseconds; 0 if it is earlier than the clock's start."""
    return max(0, nanoseconds(parse_timestamp(timestamp) - EPOCH_SECONDS))


def with_uid(key: str, uid: str) -> str:
    """A key with the uid, because a name can be reused."""
    return f"{key} {uid}"
