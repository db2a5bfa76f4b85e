"""`DeviceClassResolver`: the device class that provides each extended resource.

Upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache/extendedresourcecache.go
"""

from __future__ import annotations

from typing import Any

from schedviz.engine.framework.plugins.helper.device_classes import IMPLICIT_PREFIX
from schedviz.kube.devices import DeviceClass


class DeviceClassResolver:
    """Classes by extended resource. Of two classes with the same resource, the newer one provides it."""

    def __init__(self) -> None:
        #: Resource -> name and creation time of its class.
        self._classes: dict[str, tuple[str, str]] = {}

    def class_name_for(self, resource: str) -> str | None:
        """The name of the class that provides a resource; None: no class does. Upstream: GetDeviceClass"""
        class_name = self._classes.get(resource)
        return None if class_name is None else class_name[0]

    def update(self, old: DeviceClass | None, new: DeviceClass) -> None:
        """A class was added or updated. Upstream: updateResourceName2class"""
        name, created = new.name, new.metadata.creation_timestamp or ""
        provided = new.spec.extended_resource_name
        other = None if provided is None else self._classes.get(provided)
        # An update that keeps the resource changes nothing (here `other` is the class itself).
        if other is not None and (created < other[1] or (created == other[1] and name >= other[0])):
            return
        if old is not None:
            self.remove(old)
        if provided is not None:
            self._classes[provided] = (name, created)
        self._classes[IMPLICIT_PREFIX + name] = (name, created)

    def remove(self, device_class: DeviceClass) -> None:
        """A class was deleted. Upstream: removeResourceName2class"""
        self._classes.pop(IMPLICIT_PREFIX + device_class.name, None)
        if device_class.spec.extended_resource_name is not None:
            self._classes.pop(device_class.spec.extended_resource_name, None)

    def to_state(self) -> Any:
        """Plain data."""
        return [[resource, name, created] for resource, (name, created) in self._classes.items()]

    def load(self, state: Any) -> None:
        """Load the data of `to_state`."""
        self._classes = {resource: (name, created) for resource, name, created in state}
