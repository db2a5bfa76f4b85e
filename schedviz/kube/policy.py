# ruff: noqa: RUF012  (msgspec copies the empty defaults)
"""Disruption budgets (`policy/v1`) and priority classes (`scheduling.k8s.io/v1`)."""

from __future__ import annotations

from schedviz.kube.meta import Int32, KubeObject, LabelSelector, ObjectPart


class PodDisruptionBudgetSpec(ObjectPart, frozen=True, gc=False):
    """The pods that the budget protects, and how many of them (a number, or a share such as `30%`) must stay or may be evicted."""

    selector: LabelSelector | None = None
    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(ObjectPart, frozen=True, gc=False):
    """How many pods may still be disrupted; `disrupted_pods` are evictions in progress, by pod name."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: dict[str, str | None] = {}


class PodDisruptionBudget(KubeObject, frozen=True, kw_only=True, gc=False, tag="PodDisruptionBudget"):
    """A pod disruption budget."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(KubeObject, frozen=True, kw_only=True, gc=False, tag="PriorityClass"):
    """A name for a priority."""

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None
