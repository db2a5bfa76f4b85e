"""What an API server sets when an object is created, and keeps when it is updated: identity, times, priority, status.

FORMAT.md, "What the API server does".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from schedviz.engine.clock import Clock
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.codec import with_status_of
from schedviz.kube.core import Node, Pod
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.meta import KubeObject
from schedviz.kube.policy import PriorityClass
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim
from schedviz.kube.workloads import PodGroup

Object = TypeVar("Object", bound=KubeObject)

#: The priority of a pod without a class if no class is the global default.
DEFAULT_PRIORITY = 0
DEFAULT_PREEMPTION_POLICY = "PreemptLowerPriority"


def in_namespace(obj: Object) -> Object:
    """The object with a namespace: `default` if it is namespaced and has none."""
    if obj.metadata.namespace or not BY_TYPE[type(obj)].namespaced:
        return obj
    return replace(obj, metadata=replace(obj.metadata, namespace="default"))


def admitted(obj: Object, store: ObjectStore, clock: Clock) -> Object:
    """A new object with uid, creation time and priority; values that it already has are kept."""
    kind, key = BY_TYPE[type(obj)].name, obj.metadata.key
    times = store.creations[kind, key] = store.creations.get((kind, key), 0) + 1
    if not obj.metadata.uid or not obj.metadata.creation_timestamp:
        obj = replace(
            obj,
            metadata=replace(
                obj.metadata,
                uid=obj.metadata.uid or (key if times == 1 else f"{key}#{times}"),
                creation_timestamp=obj.metadata.creation_timestamp or clock.timestamp(),
            ),
        )
    return with_priority(obj, store) if isinstance(obj, Pod) else obj  # type: ignore[return-value]  # a Pod is the Object then


def with_priority(pod: Pod, store: ObjectStore) -> Pod:
    """The pod with the priority and the preemption policy of its class, unless it sets its own.

    Upstream: plugin/pkg/admission/priority/admission.go admitPod
    """
    if pod.spec.priority is not None and pod.spec.preemption_policy is not None:
        return pod
    priority_class = _priority_class(pod, store)
    priority, policy = pod.spec.priority, pod.spec.preemption_policy
    if priority is None:
        priority = priority_class.value if priority_class is not None else DEFAULT_PRIORITY
    if policy is None:
        policy = (priority_class.preemption_policy if priority_class is not None else None) or DEFAULT_PREEMPTION_POLICY
    return replace(pod, spec=replace(pod.spec, priority=priority, preemption_policy=policy))


def _priority_class(pod: Pod, store: ObjectStore) -> PriorityClass | None:
    classes: Mapping[str, Any] = store.of_kind("PriorityClass")
    named = classes.get(pod.spec.priority_class_name)
    if named is not None:
        return named  # type: ignore[no-any-return]
    defaults: Iterable[PriorityClass] = (priority_class for priority_class in classes.values() if priority_class.global_default)
    return min(defaults, key=lambda priority_class: priority_class.value, default=None)


def merged(new: Object, old: Object, manifest: Mapping[str, Any]) -> Object:
    """The new object with the members that an update keeps from the old one. `manifest` is the new object as the user wrote it."""
    new = replace(
        new,
        metadata=replace(
            new.metadata,
            uid=old.metadata.uid,
            creation_timestamp=old.metadata.creation_timestamp,
            deletion_timestamp=old.metadata.deletion_timestamp,
            deletion_grace_period_seconds=old.metadata.deletion_grace_period_seconds,
        ),
    )
    merge = _MERGERS.get(type(new))
    return merge(new, old, has_status="status" in manifest) if merge is not None else new


def _merged_pod(new: Pod, old: Pod, *, has_status: bool) -> Pod:
    spec = replace(
        new.spec,
        node_name=new.spec.node_name or old.spec.node_name,
        priority=old.spec.priority if new.spec.priority is None else new.spec.priority,
        preemption_policy=new.spec.preemption_policy or old.spec.preemption_policy,
    )
    if has_status:
        return replace(new, spec=spec)
    return replace(new, spec=spec, status=old.status, unread_status=with_status_of(new.unread_status, old.unread_status))


def _merged_status(new: Object, old: Object, *, has_status: bool) -> Object:
    return new if has_status else _with_status_of(new, old)


def _merged_volume(new: PersistentVolume, old: PersistentVolume, *, has_status: bool) -> PersistentVolume:
    spec = replace(new.spec, claim_ref=new.spec.claim_ref or old.spec.claim_ref)
    new = replace(new, spec=spec)
    return new if has_status else _with_status_of(new, old)


def _merged_claim(new: PersistentVolumeClaim, old: PersistentVolumeClaim, *, has_status: bool) -> PersistentVolumeClaim:
    spec = replace(new.spec, volume_name=new.spec.volume_name or old.spec.volume_name)
    new = replace(new, spec=spec)
    return new if has_status else _with_status_of(new, old)


def _with_status_of(new: Object, old: Object) -> Object:
    return replace(new, status=old.status, unread=with_status_of(new.unread, old.unread))  # type: ignore[attr-defined]  # each of them has one


#: Kinds of which more than the metadata is kept. A status stays unless the manifest has one.
_MERGERS: dict[type[KubeObject], Any] = {
    Pod: _merged_pod,
    Node: _merged_status,
    ResourceClaim: _merged_status,
    PodGroup: _merged_status,
    PersistentVolume: _merged_volume,
    PersistentVolumeClaim: _merged_claim,
}
