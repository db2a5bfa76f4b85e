"""Deployments, ReplicaSets and StatefulSets (`apps/v1`).

The scheduler reads which pods the sets select; the helpers of the simulated cluster read how many pods they want, and of what kind.
"""

from __future__ import annotations

from schedviz.kube.core import PodTemplate
from schedviz.kube.meta import Int32, KubeObject, LabelSelector, Part


class ReplicaSetSpec(Part, frozen=True, gc=False):
    """Which pods belong to the set, how many it wants (None: one), and what they are made from."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None


class ReplicaSet(KubeObject, frozen=True, kw_only=True, gc=False, tag="ReplicaSet"):
    """A replica set."""

    spec: ReplicaSetSpec = ReplicaSetSpec()


class StatefulSetSpec(Part, frozen=True, gc=False):
    """Which pods belong to the set, and how many it wants (None: one)."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class StatefulSet(KubeObject, frozen=True, kw_only=True, gc=False, tag="StatefulSet"):
    """A stateful set."""

    spec: StatefulSetSpec = StatefulSetSpec()


class DeploymentSpec(Part, frozen=True, gc=False):
    """Which pods belong to the deployment, how many it wants (None: one), and what they are made from."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None


class Deployment(KubeObject, frozen=True, kw_only=True, gc=False, tag="Deployment"):
    """A deployment. The scheduler does not watch them."""

    spec: DeploymentSpec = DeploymentSpec()
