"""Deployments, ReplicaSets and StatefulSets (`apps/v1`).

The scheduler reads which pods they select; the simulated controllers also read the number of replicas and the pod template.
"""

from __future__ import annotations

from schedviz.kube.core import PodTemplate
from schedviz.kube.meta import Int32, KubeObject, LabelSelector, ObjectPart


class ReplicaSetSpec(ObjectPart, frozen=True, gc=False):
    """The set's selector, number of replicas (None: one) and pod template."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None


class ReplicaSet(KubeObject, frozen=True, kw_only=True, gc=False, tag="ReplicaSet"):
    """A replica set."""

    spec: ReplicaSetSpec = ReplicaSetSpec()

    @property
    def replicas(self) -> int:
        """How many pods it asks for."""
        return 1 if self.spec.replicas is None else self.spec.replicas


class StatefulSetSpec(ObjectPart, frozen=True, gc=False):
    """The set's selector and number of replicas (None: one)."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class StatefulSet(KubeObject, frozen=True, kw_only=True, gc=False, tag="StatefulSet"):
    """A stateful set."""

    spec: StatefulSetSpec = StatefulSetSpec()

    @property
    def replicas(self) -> int:
        """How many pods it asks for."""
        return 1 if self.spec.replicas is None else self.spec.replicas


class DeploymentSpec(ObjectPart, frozen=True, gc=False):
    """The deployment's selector, number of replicas (None: one) and pod template."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None


class Deployment(KubeObject, frozen=True, kw_only=True, gc=False, tag="Deployment"):
    """A deployment. The scheduler does not watch them."""

    spec: DeploymentSpec = DeploymentSpec()

    @property
    def replicas(self) -> int:
        """How many pods it asks for."""
        return 1 if self.spec.replicas is None else self.spec.replicas
