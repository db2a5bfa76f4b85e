"""Constraints: attributes that the devices of a claim must share, or must not share.

Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go matchAttributeConstraint, constraint.go,
experimental/allocator_experimental.go deviceAttributeListAsSet
"""

from __future__ import annotations

from typing import Protocol

from schedviz.engine.framework.plugins.dynamicresources.structured.pools import SliceDevice
from schedviz.kube.devices import DeviceAttribute, DeviceConstraint

#: The kind of an attribute's value, and the values.
Values = tuple[str, frozenset[object]]


class Constraint(Protocol):
    """A constraint during one search. Every successful `add` is followed by at most one `remove` with the same arguments."""

    def add(self, request: str, sub_request: str, device: SliceDevice) -> bool:
        """Take a device into account. False: it would violate the constraint."""
        ...

    def remove(self, request: str, sub_request: str, device: SliceDevice) -> None:
        """Forget a device."""
        ...


def constraint_of(constraint: DeviceConstraint, *, lists: bool, distinct: bool = True) -> Constraint | None:
    """The constraint; None: it is of no known kind. `lists`: attributes may have several values. `distinct`: not only equal ones."""
    requests = frozenset(constraint.requests)
    if constraint.match_attribute is not None:
        return _Match(requests, constraint.match_attribute, lists=lists)
    if distinct and constraint.distinct_attribute is not None:
        return _Distinct(requests, constraint.distinct_attribute, lists=lists)
    return None


class _Attribute:
    """The requests and the attribute of a constraint."""

    def __init__(self, requests: frozenset[str], name: str, *, lists: bool) -> None:
        self._requests = requests
        self._name = name
        self._lists = lists
        self._count = 0

    def _applies(self, request: str, sub_request: str) -> bool:
        requests = self._requests
        return not requests or request in requests or (bool(sub_request) and f"{request}/{sub_request}" in requests)

    def _lookup(self, device: SliceDevice) -> DeviceAttribute | None:
        """Upstream: lookupAttribute"""
        attributes = device.device.attributes
        attribute = attributes.get(self._name)
        if attribute is not None:
            return attribute
        domain, separator, key = self._name.partition("/")
        return attributes.get(key) if separator and domain == device.id.driver else None

    def _values(self, attribute: DeviceAttribute) -> Values | None:
        """Upstream: attributeAsSet"""
        if self._lists:
            for kind, values in (
                ("int", attribute.int_values),
                ("bool", attribute.bool_values),
                ("string", attribute.string_values),
                ("version", attribute.version_values),
            ):
                if values:
                    return kind, frozenset(values)
        for kind, value in (
            ("string", attribute.string_value),
            ("int", attribute.int_value),
            ("bool", attribute.bool_value),
            ("version", attribute.version_value),
        ):
            if value is not None:
                return kind, frozenset((value,))
        return None


class _Match(_Attribute):
    """All devices have the attribute, with a value in common."""

    _common: Values | None = None

    def add(self, request: str, sub_request: str, device: SliceDevice) -> bool:
        if not self._applies(request, sub_request):
            return True
        attribute = self._lookup(device)
        if attribute is None:
            return False
        values = self._values(attribute)
        if self._count == 0:
            if values is None and self._lists:
                return False
            self._common = values
            self._count = 1
            return True
        common = self._common
        if values is None or common is None or values[0] != common[0] or not values[1] & common[1]:
            return False
        self._common = (values[0], values[1] & common[1])
        self._count += 1
        return True

    def remove(self, request: str, sub_request: str, device: SliceDevice) -> None:
        del device
        if self._applies(request, sub_request):
            self._count -= 1


class _Distinct(_Attribute):
    """All devices have the attribute, with distinct values.

    As upstream, values are kept by request: of a request with several devices, only the last one's.
    """

    def __init__(self, requests: frozenset[str], name: str, *, lists: bool) -> None:
        super().__init__(requests, name, lists=lists)
        self._seen: dict[str, DeviceAttribute] = {}

    def add(self, request: str, sub_request: str, device: SliceDevice) -> bool:
        if not self._applies(request, sub_request):
            return True
        attribute = self._lookup(device)
        if attribute is None:
            return False
        if self._count and not self._is_distinct(attribute):
            return False
        self._seen[request] = attribute
        self._count += 1
        return True

    def _is_distinct(self, attribute: DeviceAttribute) -> bool:
        values = self._values(attribute)
        if values is None:
            return not self._lists and not self._seen
        for other in self._seen.values():
            other_values = self._values(other)
            if other_values is not None and other_values[0] == values[0] and other_values[1] & values[1]:
                return False
        return True

    def remove(self, request: str, sub_request: str, device: SliceDevice) -> None:
        del device
        if self._applies(request, sub_request):
            self._seen.pop(request, None)
            self._count -= 1
