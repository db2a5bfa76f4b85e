"""Requests of claims as the allocator reads them: an exact request and an alternative of a prioritized list look the same.

Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go requestAccessor, requestData
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.kube.devices import (
    CapacityRequirements,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
)

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"


class Request:
    """A request, or an alternative of one."""

    __slots__ = (
        "admin_access",
        "all_expressions",
        "capacity",
        "class_expressions",
        "count",
        "device_class",
        "device_class_name",
        "expressions",
        "has_admin_access",
        "mode",
        "name",
        "parent",
        "selectors",
        "tolerations",
    )

    def __init__(self, name: str, request: ExactDeviceRequest | DeviceSubRequest | None, parent: str = "") -> None:
        request = ExactDeviceRequest() if request is None else request
        self.name = name
        #: The name of the request that this is an alternative of; "": of none.
        self.parent = parent
        self.device_class_name = request.device_class_name
        self.mode = request.allocation_mode
        self.count = request.count
        self.selectors: Sequence[DeviceSelector] = request.selectors
        self.tolerations: Sequence[DeviceToleration] = request.tolerations
        self.capacity: CapacityRequirements | None = request.capacity
        admin_access = request.admin_access if isinstance(request, ExactDeviceRequest) else None
        self.has_admin_access = admin_access is not None
        self.admin_access = bool(admin_access)
        self.device_class: DeviceClass | None = None
        #: The expressions of the class's selectors, then of the request's.
        self.class_expressions: tuple[str, ...] = ()
        self.expressions: tuple[str, ...] = ()
        self.all_expressions: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """`request` or `request/alternative`."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def base_name(self) -> str:
        """The name of the request itself."""
        return self.parent or self.name

    @property
    def sub_name(self) -> str:
        """The name of the alternative; "": there is none."""
        return self.name if self.parent else ""

    def set_class(self, device_class: DeviceClass) -> None:
        """Set the class of the request, and the expressions that follow from it."""
        self.device_class = device_class
        self.class_expressions = tuple(_expression(selector) for selector in device_class.spec.selectors)
        self.expressions = tuple(_expression(selector) for selector in self.selectors)
        self.all_expressions = (*self.class_expressions, *self.expressions)


def alternatives_of(request: DeviceRequest) -> tuple[Request, ...]:
    """The alternatives of a request; a request without any is its only one."""
    if not request.first_available:
        return (Request(request.name, request.exactly),)
    return tuple(Request(subrequest.name, subrequest, request.name) for subrequest in request.first_available)


def _expression(selector: DeviceSelector) -> str:
    return "" if selector.cel is None else selector.cel.expression
