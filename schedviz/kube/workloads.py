"""Pod groups, and the workloads that they are created for (`scheduling.k8s.io/v1alpha2`)."""

from __future__ import annotations

from schedviz.kube.core import PodResourceClaim, PodResourceClaimStatus
from schedviz.kube.meta import Condition, Int32, KubeObject, ObjectPart


class BasicSchedulingPolicy(ObjectPart, frozen=True, gc=False):
    """The pods of the group are scheduled one by one."""


class GangSchedulingPolicy(ObjectPart, frozen=True, gc=False):
    """At least so many pods of the group are scheduled together, or none."""

    min_count: Int32 = 0


class PodGroupSchedulingPolicy(ObjectPart, frozen=True, gc=False):
    """One of these policies is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(ObjectPart, frozen=True, gc=False):
    """All pods of the group must be in one domain of this topology."""

    key: str = ""


class PodGroupSchedulingConstraints(ObjectPart, frozen=True, gc=False):
    """Where the pods of a group can be placed."""

    topology: tuple[TopologyConstraint, ...] = ()


class WorkloadPodGroupTemplateReference(ObjectPart, frozen=True, gc=False):
    """A template of a workload."""

    workload_name: str = ""
    pod_group_template_name: str = ""


class PodGroupTemplateReference(ObjectPart, frozen=True, gc=False):
    """What a pod group was created from."""

    workload: WorkloadPodGroupTemplateReference | None = None


class PodGroupSpec(ObjectPart, frozen=True, gc=False):
    """How the pods of a group are scheduled."""

    pod_group_template_ref: PodGroupTemplateReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None


class PodGroupStatus(ObjectPart, frozen=True, gc=False):
    """What is known about a group, such as PodGroupScheduled, and the claims that were created for it."""

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()


class PodGroup(KubeObject, frozen=True, kw_only=True, gc=False, tag="PodGroup"):
    """Pods that are scheduled as a unit."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class Workload(KubeObject, frozen=True, kw_only=True, gc=False, tag="Workload"):
    """A workload, from whose templates pod groups are created. The scheduler does not read it."""
