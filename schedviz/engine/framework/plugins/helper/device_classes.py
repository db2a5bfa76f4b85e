"""Extended resources that device classes provide. Upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache"""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.listers import ObjectLister

#: A class provides a resource of this name even if it declares none.
IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def provided_resources(objects: ObjectLister) -> frozenset[str]:
    """The names of the resources."""
    resources: set[str] = set()
    for device_class in objects.list("DeviceClass") if objects.knows("DeviceClass") else ():
        resources.add(f"{IMPLICIT_PREFIX}{device_class.name}")
        if device_class.spec.extended_resource_name:
            resources.add(device_class.spec.extended_resource_name)
    return frozenset(resources)
