"""ReplicaSets: keep the wanted number of pods. Deleted pods are replaced, under new names.

Pods that match the selector and have no owner are not adopted. Deleting a set deletes its pods (the garbage collector's job). Upstream:
pkg/controller/replicaset/replica_set.go manageReplicas
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.engine.cluster.controllers.pods import is_active, is_ready, with_uid
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.apps import ReplicaSet
from schedviz.kube.core import Pod, PodSpec
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject, ObjectMeta, OwnerReference, controller_of
from schedviz.kube.timestamps import parse_timestamp

#: By cluster and the identity of a template's specification: the specification, and the same with defaults, which its pods share. A worker
#: hosts many clusters, whose templates go with them.
_known_specs: WeakKeyDictionary[ObjectStore, dict[int, tuple[PodSpec, PodSpec]]] = WeakKeyDictionary()
_MAX_KNOWN_SPECS = 16
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class ReplicaSets:
    """Creates and deletes the pods of ReplicaSets."""

    name = "replicaSets"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A set that changed, and the set of a pod that changed."""
        if isinstance(obj, ReplicaSet):
            yield with_uid(obj.key, obj.uid), api.clock.now + delay
        elif isinstance(obj, Pod):
            owner = controller_of(obj)
            if owner is not None and owner.kind == "ReplicaSet":
                owning = api.store.get("ReplicaSet", f"{obj.namespace}/{owner.name}")
                if owning is not None and owning.uid == owner.uid:
                    yield with_uid(owning.key, owning.uid), api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> bool:
        """Create missing pods, or delete surplus ones, at most `pods_per_sync`. True: there are more."""
        set_key, uid = key.split(" ")
        replica_set = api.store.get("ReplicaSet", set_key)
        namespace = set_key.partition("/")[0]
        controlled = api.store.controlled_by("Pod", uid)
        pods = [pod for pod in controlled if isinstance(pod, Pod) and pod.namespace == namespace and is_active(pod)]
        if not isinstance(replica_set, ReplicaSet) or replica_set.uid != uid:
            too_many = pods
        else:
            missing = replica_set.replicas - len(pods) if replica_set.spec.template is not None else 0
            if missing > 0:
                _create_pods(replica_set, min(missing, api.pods_per_sync or missing), api)
                return 0 < api.pods_per_sync < missing
            too_many = sorted(pods, key=_deletion_order)[: max(0, len(pods) - replica_set.replicas)]
        for pod in too_many[: api.pods_per_sync or None]:
            api.delete("Pod", pod.namespace, pod.name, graceful=api.ends_gracefully(pod))
        return 0 < api.pods_per_sync < len(too_many)


def _deletion_order(pod: Pod) -> tuple[bool, int, bool, float]:
    """Sort key: the pod with the smallest is deleted first.

    Upstream: controller_utils.go ActivePodsWithRanks.Less (without ranks and restarts)
    """
    created = pod.metadata.creation_timestamp
    return bool(pod.spec.node_name), _PHASES.get(pod.status.phase, 1), is_ready(pod), -(parse_timestamp(created) if created else 0.0)


def _create_pods(owner: ReplicaSet, count: int, api: ControllerApi) -> None:
    """Create pods under the first names that no pod has had."""
    spec = _pod_spec(owner, api.store)
    number = 0
    for _ in range(count):
        number += 1
        while ("Pod", f"{owner.namespace}/{owner.name}-{number}") in api.store.creations:
            number += 1
        _create_pod(owner, number, spec, api)


def _pod_spec(owner: ReplicaSet, store: ObjectStore) -> PodSpec:
    """The specification of its pods, with defaults: one object for all of them, which may be large."""
    template = owner.spec.template
    assert template is not None
    specs = _known_specs.setdefault(store, {})
    known = specs.get(id(template.spec))
    if known is None or known[0] is not template.spec:
        if len(specs) >= _MAX_KNOWN_SPECS:
            specs.clear()
        known = template.spec, default_object(Pod(metadata=ObjectMeta(name=owner.name), spec=template.spec)).spec
        specs[id(template.spec)] = known
    return known[1]


def _create_pod(owner: ReplicaSet, number: int, spec: PodSpec, api: ControllerApi) -> None:
    template = owner.spec.template
    assert template is not None
    reference = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name=owner.name, uid=owner.uid, controller=True)
    metadata = ObjectMeta(
        name=f"{owner.name}-{number}",
        namespace=owner.namespace,
        generate_name=f"{owner.name}-",
        labels=template.metadata.labels,
        owner_references=(reference,),
    )
    api.put(Pod(metadata=metadata, spec=spec))
