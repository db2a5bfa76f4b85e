"""Extended resources that device classes provide. Upstream: framework/plugins/noderesources/fit.go shouldDelegateResourceToDRA"""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.interface import Handle

#: A class provides a resource of this name even if it declares none.
IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def is_provided(handle: Handle, resource: str) -> bool:
    """Whether a device class provides the resource, as far as the scheduler knows."""
    manager = handle.dra_manager
    return manager is not None and manager.class_name_for(resource) is not None
