"""Disruption budgets: how many pods may be disrupted now.

Upstream: pkg/controller/disruption/disruption.go trySync, getExpectedPodCount, countHealthyPods, updatePdbStatus
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import is_
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from schedviz.engine.clock import nanoseconds
from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.engine.cluster.controllers.pods import is_active, is_ready, virtual_time_of
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.apps import Deployment, ReplicaSet, StatefulSet
from schedviz.kube.core import Pod, ReplicationController
from schedviz.kube.meta import KubeObject, OwnerReference, controller_of
from schedviz.kube.policy import PodDisruptionBudget, PodDisruptionBudgetSpec
from schedviz.kube.selector_index import SelectorIndex, equality_requirement
from schedviz.kube.selectors import Selector, SelectorError, label_selector

#: How long an eviction counts as in progress while the pod is not seen to terminate. Upstream: DeletionTimeout
DELETION_TIMEOUT_SECONDS = 120
_SCALABLE_KINDS = (ReplicaSet, StatefulSet, Deployment, ReplicationController)
#: The maximum number of digits of a percentage.
_MAX_DIGITS = 9
_MAX_INT32 = (1 << 31) - 1


class PDBStatus:
    """Counts the healthy pods of each budget."""

    name = "pdbStatus"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A budget that changed, the budgets of a pod that changed, and those of a namespace in which a controller was scaled."""
        due = api.clock.now + delay
        if isinstance(obj, PodDisruptionBudget):
            yield obj.key, due
            for since in obj.status.disrupted_pods.values():
                if since is not None:
                    yield f"{obj.key} again", virtual_time_of(since) + nanoseconds(DELETION_TIMEOUT_SECONDS) + 1
        elif isinstance(obj, Pod):
            for protecting in budgets_of(obj, api.store):
                yield protecting.key, due
        elif isinstance(obj, _SCALABLE_KINDS):
            for budget in api.store.of_kind("PodDisruptionBudget").values():
                if budget.namespace == obj.namespace:
                    yield budget.key, due

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Update the budget's status."""
        budget = api.store.get("PodDisruptionBudget", key.removesuffix(" again"))
        if not isinstance(budget, PodDisruptionBudget):
            return
        pods = _pods_of(budget, api.store)
        expected, desired = map(_int32, _expected_and_desired(budget, pods, api.store))
        disrupted = _still_disrupted(budget, pods, api.clock.now)
        healthy = sum(is_ready(pod) and pod.metadata.deletion_timestamp is None and pod.name not in disrupted for pod in pods)
        status = replace(
            budget.status,
            disruptions_allowed=_int32(max(0, healthy - desired)) if expected > 0 else 0,
            current_healthy=healthy,
            desired_healthy=desired,
            expected_pods=expected,
            disrupted_pods=disrupted,
        )
        detail = f"disruptionsAllowed {status.disruptions_allowed}"
        api.replace(replace(budget, status=status), subresource="status", detail=detail)


def _selector_of(budget: PodDisruptionBudget) -> Selector | None:
    """The selector of a budget; None if it is invalid."""
    try:
        return label_selector(budget.spec.selector)
    except SelectorError:
        return None


def _pods_of(budget: PodDisruptionBudget, store: ObjectStore) -> list[Pod]:
    """The pods to which a budget applies, in order of creation."""
    selector = _selector_of(budget)
    if selector is None:
        return []
    required = equality_requirement(selector)
    pods: Iterable[KubeObject]
    if required is not None and len(required.values) == 1:
        pods = store.with_label("Pod", required.key, required.values[0])
    else:
        pods = store.of_kind("Pod").values()
    return [pod for pod in pods if isinstance(pod, Pod) and pod.namespace == budget.namespace and selector.matches(pod.metadata.labels)]


class _KnownBudgets:
    """An index of the selectors of all budgets, kept until a selector changes. The status of a budget changes often."""

    def __init__(self) -> None:
        self._specs: list[PodDisruptionBudgetSpec] = []
        self._namespaces: list[str] = []
        self._index = SelectorIndex(())

    def of_pod(self, pod: Pod, budgets: Sequence[PodDisruptionBudget]) -> list[PodDisruptionBudget]:
        """Those of the budgets that apply to a pod."""
        specs, namespaces = [budget.spec for budget in budgets], [budget.namespace for budget in budgets]
        if namespaces != self._namespaces or not all(map(is_, specs, self._specs)):
            self._specs, self._namespaces = specs, namespaces
            self._index = SelectorIndex((budget.namespace, _selector_of(budget)) for budget in budgets)
        return [budgets[number] for number in self._index.matching(pod.namespace, pod.metadata.labels)]


#: One for each cluster: a worker hosts many, each in a thread of its own.
_known_budgets: WeakKeyDictionary[ObjectStore, _KnownBudgets] = WeakKeyDictionary()


def budgets_of(pod: Pod, store: ObjectStore) -> list[PodDisruptionBudget]:
    """The budgets that apply to a pod."""
    budgets = [budget for budget in store.of_kind("PodDisruptionBudget").values() if isinstance(budget, PodDisruptionBudget)]
    known = _known_budgets.get(store)
    if known is None:
        known = _known_budgets[store] = _KnownBudgets()
    return known.of_pod(pod, budgets)


def _expected_and_desired(budget: PodDisruptionBudget, pods: Sequence[Pod], store: ObjectStore) -> tuple[int, int]:
    spec = budget.spec
    if spec.max_unavailable is not None:
        expected = _expected_scale(pods, store)
        return expected, max(0, expected - _scaled(spec.max_unavailable, expected))
    if spec.min_available is None:
        return 0, 0
    if isinstance(spec.min_available, int):
        return len(pods), spec.min_available
    expected = _expected_scale(pods, store)
    return expected, _scaled(spec.min_available, expected)


def _int32(number: int) -> int:
    """The nearest number that the API's fields can hold: replicas can be summed, and an imported budget can have any amount."""
    return max(-_MAX_INT32, min(_MAX_INT32, number))


def _scaled(amount: int | str, total: int) -> int:
    """A number, or a percentage of the total, rounded up. Upstream: intstr.GetScaledValueFromIntOrPercent"""
    if isinstance(amount, int):
        return amount
    share = amount.removesuffix("%")
    return -(-int(share) * total // 100) if share.isdecimal() and len(share) <= _MAX_DIGITS else 0


def _expected_scale(pods: Sequence[Pod], store: ObjectStore) -> int:
    """The total replicas of the pods' controllers; pods without one do not count. Upstream: getExpectedScale"""
    scales: dict[str, int] = {}
    for pod in pods:
        owner = controller_of(pod)
        controller = None if owner is None else _controller(owner, pod.namespace, store)
        if controller is not None:
            scales[controller.uid] = 1 if controller.spec.replicas is None else controller.spec.replicas
    return sum(scales.values())


def _controller(
    owner: OwnerReference, namespace: str, store: ObjectStore
) -> Deployment | ReplicaSet | StatefulSet | ReplicationController | None:
    """The object that sets the number of pods: the set's deployment, if it has one, else the set."""
    controller = store.get(owner.kind, f"{namespace}/{owner.name}") if owner.kind in {kind.__name__ for kind in _SCALABLE_KINDS} else None
    if controller is None or controller.uid != owner.uid or not isinstance(controller, _SCALABLE_KINDS):
        return None
    if isinstance(controller, ReplicaSet):
        for above in controller.metadata.owner_references:
            if above.controller and above.kind == "Deployment":
                return _controller(above, namespace, store)
    return controller


def _still_disrupted(budget: PodDisruptionBudget, pods: Sequence[Pod], now: int) -> dict[str, str | None]:
    """Evictions in progress, of pods that exist and are not seen to terminate. Upstream: buildDisruptedPodMap"""
    existing = {pod.name for pod in pods if is_active(pod)}
    timeout = nanoseconds(DELETION_TIMEOUT_SECONDS)
    return {
        name: since
        for name, since in budget.status.disrupted_pods.items()
        if name in existing and since is not None and virtual_time_of(since) + timeout >= now
    }
