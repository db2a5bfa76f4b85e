"""The allocator: which devices of which slices a pod's claims get on a node.

Upstream: dynamic-resource-allocation/structured
"""

from schedviz.engine.framework.plugins.dynamicresources.structured.allocator import Allocator, NodeAllocationError
from schedviz.engine.framework.plugins.dynamicresources.structured.search import AllocationError
from schedviz.engine.framework.plugins.dynamicresources.structured.state import AllocatedState, AllocatorFeatures, DeviceID

__all__ = ["AllocatedState", "AllocationError", "Allocator", "AllocatorFeatures", "DeviceID", "NodeAllocationError"]
