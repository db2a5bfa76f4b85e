"""Deployments: one ReplicaSet for each template; the newest has all replicas.

A new template takes all replicas at once, as with the strategy Recreate; there are no rolling updates. Deleting a deployment deletes its
sets (the garbage collector's job). Upstream: pkg/controller/deployment/sync.go getNewReplicaSet, recreate.go
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.engine.cluster.controllers.pods import with_uid
from schedviz.kube.apps import Deployment, ReplicaSet, ReplicaSetSpec
from schedviz.kube.codec import enc_hook
from schedviz.kube.core import PodTemplate
from schedviz.kube.meta import KubeObject, LabelSelector, ObjectMeta, OwnerReference

POD_TEMPLATE_HASH = "pod-template-hash"


class Deployments:
    """Creates, scales and deletes the ReplicaSets of Deployments."""

    name = "deployments"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A deployment that changed, and the deployment of a set that changed."""
        if isinstance(obj, Deployment):
            yield with_uid(obj.key, obj.uid), api.clock.now + delay
        elif isinstance(obj, ReplicaSet):
            for owner in obj.metadata.owner_references:
                owning = api.store.get("Deployment", f"{obj.namespace}/{owner.name}") if owner.kind == "Deployment" else None
                if owning is not None and owning.uid == owner.uid:
                    yield with_uid(owning.key, owning.uid), api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Scale sets of old templates to zero, and the set of the present template to the wanted replicas."""
        deployment_key, uid = key.split(" ")
        deployment = api.store.get("Deployment", deployment_key)
        sets = [controlled for controlled in api.store.controlled_by("ReplicaSet", uid) if isinstance(controlled, ReplicaSet)]
        if not isinstance(deployment, Deployment) or deployment.uid != uid:
            for replica_set in sets:
                api.delete("ReplicaSet", replica_set.namespace, replica_set.name)
            return
        template = deployment.spec.template
        if template is None:
            return
        newest = next((replica_set for replica_set in sets if _made_from(replica_set, template)), None)
        for replica_set in sets:
            _scale(replica_set, deployment.replicas if replica_set is newest else 0, api)
        if newest is None:
            _create(deployment, template, api)


def _made_from(replica_set: ReplicaSet, template: PodTemplate) -> bool:
    """Whether the set has this template, ignoring the label that the deployment added. Upstream: deployment_util.go EqualIgnoreHash"""
    return replica_set.spec.template is not None and _without_hash(replica_set.spec.template) == _without_hash(template)


def _without_hash(template: PodTemplate) -> PodTemplate:
    labels = {key: value for key, value in template.metadata.labels.items() if key != POD_TEMPLATE_HASH}
    return replace(template, metadata=replace(template.metadata, labels=labels))


def _scale(replica_set: ReplicaSet, replicas: int, api: ControllerApi) -> None:
    if replica_set.spec.replicas != replicas:
        api.replace(replace(replica_set, spec=replace(replica_set.spec, replicas=replicas)), detail=f"replicas {replicas}")


def _create(deployment: Deployment, template: PodTemplate, api: ControllerApi) -> None:
    encoded = msgspec.json.encode(template, enc_hook=enc_hook, order="sorted")
    code = hashlib.blake2b(encoded, digest_size=5).hexdigest()
    labels = {**template.metadata.labels, POD_TEMPLATE_HASH: code}
    selector = deployment.spec.selector or LabelSelector(match_labels=template.metadata.labels)
    reference = OwnerReference(api_version="apps/v1", kind="Deployment", name=deployment.name, uid=deployment.uid, controller=True)
    api.put(
        ReplicaSet(
            metadata=ObjectMeta(
                name=f"{deployment.name}-{code}", namespace=deployment.namespace, labels=labels, owner_references=(reference,)
            ),
            spec=ReplicaSetSpec(
                replicas=deployment.replicas,
                selector=replace(selector, match_labels={**selector.match_labels, POD_TEMPLATE_HASH: code}),
                template=replace(template, metadata=replace(template.metadata, labels=labels)),
            ),
        )
    )
