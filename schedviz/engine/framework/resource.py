"""Amounts of resources, and the requests of a pod.

Upstream: framework/types.go Resource, pkg/api/v1/resource/helpers.go PodRequests, scheduler/util/pod_resources.go
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from schedviz.kube.core import Pod, ResourceList
from schedviz.kube.label_names import key_faults
from schedviz.kube.quantity import MAX_INT64, NANO, Quantity, as_int64
from schedviz.trace.view import Resources

#: The request that scores assume for a container without one: 0.1 cores and 200 MiB. Upstream: scheduler/util/pod_resources.go
DEFAULT_MILLI_CPU_REQUEST: Final = 100
DEFAULT_MEMORY_REQUEST: Final = 200 * 1024 * 1024


class Resource:
    """Milli-cpus, bytes, and counts of scalar resources. Upstream: framework/types.go Resource"""

    __slots__ = ("allowed_pod_number", "ephemeral_storage", "memory", "milli_cpu", "scalar")

    def __init__(
        self,
        milli_cpu: int = 0,
        memory: int = 0,
        ephemeral_storage: int = 0,
        allowed_pod_number: int = 0,
        scalar: dict[str, int] | None = None,
    ) -> None:
        self.milli_cpu = milli_cpu
        self.memory = memory
        self.ephemeral_storage = ephemeral_storage
        self.allowed_pod_number = allowed_pod_number
        #: A resource that was requested once keeps its entry, at 0.
        self.scalar: dict[str, int] = {} if scalar is None else scalar

    @classmethod
    def of(cls, amounts: ResourceList) -> Resource:
        """The amounts of a resource list; resources that the scheduler does not count are omitted."""
        result = cls()
        for name, quantity in amounts.items():
            result._set(name, quantity.milli_value if name == "cpu" else quantity.value)
        return result

    @classmethod
    def from_view(cls, view: Resources) -> Resource:
        """The Resource of a view."""
        return cls(view.milli_cpu, view.memory, view.ephemeral_storage, view.allowed_pod_number, dict(view.scalar))

    def to_view(self) -> Resources:
        """The amounts as a view shows them."""
        return Resources(self.milli_cpu, self.memory, self.ephemeral_storage, self.allowed_pod_number, dict(self.scalar))

    def clone(self) -> Resource:
        """A copy."""
        return Resource(self.milli_cpu, self.memory, self.ephemeral_storage, self.allowed_pod_number, self.scalar.copy())

    def add(self, other: Resource, sign: int) -> None:
        """Add another Resource, or subtract it (sign -1); the number of pods stays."""
        self.milli_cpu = as_int64(self.milli_cpu + sign * other.milli_cpu)
        self.memory = as_int64(self.memory + sign * other.memory)
        self.ephemeral_storage = as_int64(self.ephemeral_storage + sign * other.ephemeral_storage)
        for name, amount in other.scalar.items():
            self.scalar[name] = as_int64(self.scalar.get(name, 0) + sign * amount)

    def _set(self, name: str, amount: int) -> None:
        if name == "cpu":
            self.milli_cpu = amount
        elif name == "memory":
            self.memory = amount
        elif name == "pods":
            self.allowed_pod_number = amount
        elif name == "ephemeral-storage":
            self.ephemeral_storage = amount
        elif is_scalar_resource_name(name):
            self.scalar[name] = amount

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resource) and self._members() == other._members()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Resource(milli_cpu={}, memory={}, ephemeral_storage={}, allowed_pod_number={}, scalar={})".format(*self._members())

    def _members(self) -> tuple[int, int, int, int, dict[str, int]]:
        return self.milli_cpu, self.memory, self.ephemeral_storage, self.allowed_pod_number, self.scalar


class PodRequests:
    """A pod's requests, and the requests that scores assume for it. Upstream: framework/types.go calculateResource"""

    __slots__ = ("non_zero_memory", "non_zero_milli_cpu", "resource")

    def __init__(self, resource: Resource, non_zero_milli_cpu: int, non_zero_memory: int) -> None:
        self.resource = resource
        self.non_zero_milli_cpu = non_zero_milli_cpu
        self.non_zero_memory = non_zero_memory


def pod_requests(pod: Pod) -> PodRequests:
    """The sum over containers, at least the largest init container, plus the overhead. Pods with equal requests share one object.

    Upstream: framework/types.go calculateResource
    """
    spec = pod.spec
    cpu = memory = init_cpu = init_memory = 0
    for container in spec.containers:
        container_cpu, container_memory = _non_zero_requests(container.resources.requests)
        cpu = as_int64(cpu + container_cpu)
        memory = as_int64(memory + container_memory)
    for container in spec.init_containers:
        container_cpu, container_memory = _non_zero_requests(container.resources.requests)
        init_cpu, init_memory = max(init_cpu, container_cpu), max(init_memory, container_memory)
    cpu, memory = max(cpu, init_cpu), max(memory, init_memory)
    if "cpu" in spec.overhead:
        cpu += spec.overhead["cpu"].milli_value
    if "memory" in spec.overhead:
        memory += spec.overhead["memory"].value

    if len(spec.containers) == 1 and not spec.init_containers and not spec.overhead:
        return _shared(Resource.of(spec.containers[0].resources.requests), cpu, memory)
    return _shared(_summed(pod), as_int64(cpu), as_int64(memory))


def _shared(resource: Resource, non_zero_milli_cpu: int, non_zero_memory: int) -> PodRequests:
    amounts = resource.milli_cpu, resource.memory, resource.ephemeral_storage, resource.allowed_pod_number
    return _one_of_each(amounts, tuple(resource.scalar.items()), non_zero_milli_cpu, non_zero_memory)


@lru_cache(maxsize=1024)
def _one_of_each(
    amounts: tuple[int, int, int, int], scalar: tuple[tuple[str, int], ...], non_zero_milli_cpu: int, non_zero_memory: int
) -> PodRequests:
    """Most pods come from a few templates and would otherwise keep 400 bytes each."""
    return PodRequests(Resource(*amounts, dict(scalar)), non_zero_milli_cpu, non_zero_memory)


def _non_zero_requests(requests: ResourceList) -> tuple[int, int]:
    """Milli-cpus and bytes; an explicit 0 stays 0. Upstream: scheduler/util/pod_resources.go GetNonzeroRequests"""
    cpu, memory = requests.get("cpu"), requests.get("memory")
    return (
        DEFAULT_MILLI_CPU_REQUEST if cpu is None else cpu.milli_value,
        DEFAULT_MEMORY_REQUEST if memory is None else memory.value,
    )


def _summed(pod: Pod) -> Resource:
    """The sum of several request lists: amounts are added exactly and rounded up once, as with upstream's Quantities."""
    result = Resource()
    for name, nanos in _nano_totals(pod).items():
        amount = -(-nanos // (10**6 if name == "cpu" else 10**9))
        result._set(name, amount if -MAX_INT64 <= amount <= MAX_INT64 else _overflown(pod, name))  # noqa: SLF001 - its own module
    return result


def _nano_totals(pod: Pod) -> dict[str, int]:
    totals: dict[str, int] = {}
    for container in pod.spec.containers:
        for name, quantity in container.resources.requests.items():
            totals[name] = totals.get(name, 0) + exact_amount(quantity)
    for container in pod.spec.init_containers:
        for name, quantity in container.resources.requests.items():
            amount = exact_amount(quantity)
            totals[name] = max(totals[name], amount) if name in totals else amount
    for name, quantity in pod.spec.overhead.items():
        totals[name] = totals.get(name, 0) + exact_amount(quantity)
    return totals


def _overflown(pod: Pod, name: str) -> int:
    """A sum that overflows an int64. Upstream: pkg/api/v1/resource/helpers.go PodRequests"""
    total: Quantity | None = None
    for container in pod.spec.containers:
        quantity = container.resources.requests.get(name)
        if quantity is not None:
            total = quantity if total is None else total.plus(quantity)
    for container in pod.spec.init_containers:
        quantity = container.resources.requests.get(name)
        if quantity is not None and (total is None or quantity.compare(total) > 0):
            total = quantity
    quantity = pod.spec.overhead.get(name)
    if quantity is not None:
        total = quantity if total is None else total.plus(quantity)
    return 0 if total is None else total.milli_value if name == "cpu" else total.value


def requests_of(nanos: Mapping[str, int], non_zero_cpu_nanos: int, non_zero_memory_nanos: int) -> PodRequests:
    """The requests of exact sums, in billionths; rounded up once, as with upstream's Quantities."""
    result = Resource()
    for name, amount in nanos.items():
        result._set(name, as_int64(-(-amount // (10**6 if name == "cpu" else 10**9))))  # noqa: SLF001 - its own module
    return _shared(result, as_int64(-(-non_zero_cpu_nanos // 10**6)), as_int64(-(-non_zero_memory_nanos // 10**9)))


def exact_amount(quantity: Quantity) -> int:
    """The amount in billionths, the precision limit of quantities."""
    factor: int = 10 ** (quantity.exponent - NANO)
    return quantity.unscaled * factor


@lru_cache(maxsize=4096)
def is_scalar_resource_name(name: str) -> bool:
    """Extended resources, huge pages, prefixed native resources and attachable volumes.

    Upstream: scheduler/util/utils.go IsScalarResourceName
    """
    return is_extended_resource_name(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name


@lru_cache(maxsize=4096)
def is_extended_resource_name(name: str) -> bool:
    """Whether this is a qualified name outside kubernetes.io. Upstream: apis/core/v1/helper/helpers.go IsExtendedResourceName"""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not key_faults(f"requests.{name}")
