"""Queries about pods, their keys and their timestamps, for the controllers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from schedviz.engine.clock import EPOCH_SECONDS, nanoseconds
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.apps import Deployment, ReplicaSet
from schedviz.kube.core import Pod
from schedviz.kube.meta import condition_of, controller_of
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


def active_pods_of(replica_set: ReplicaSet, store: ObjectStore) -> int:
    """How many pods count for a set."""
    return sum(isinstance(pod, Pod) and is_active(pod) for pod in store.controlled_by("Pod", replica_set.uid))


def missing_pods(store: ObjectStore, enabled: Collection[str]) -> int:
    """How many pods the enabled controllers have yet to create for the workloads of a cluster."""
    if "replicaSets" not in enabled:
        return 0
    missing = 0
    of_deployments: Counter[str] = Counter()
    for replica_set in store.of_kind("ReplicaSet").values():
        if isinstance(replica_set, ReplicaSet) and replica_set.spec.template is not None:
            missing += max(0, replica_set.replicas - active_pods_of(replica_set, store))
            if (controller := controller_of(replica_set)) is not None:
                of_deployments[controller.uid] += replica_set.replicas
    if "deployments" in enabled:
        for deployment in store.of_kind("Deployment").values():
            if isinstance(deployment, Deployment) and deployment.spec.template is not None:
                missing += max(0, deployment.replicas - of_deployments[deployment.uid])
    return missing


def virtual_time_of(timestamp: str) -> int:
    """A timestamp on the virtual clock, in nanoseconds; 0 if it is earlier than the clock's start."""
    return max(0, nanoseconds(parse_timestamp(timestamp) - EPOCH_SECONDS))


def with_uid(key: str, uid: str) -> str:
    """A key with the uid, because a name can be reused."""
    return f"{key} {uid}"
