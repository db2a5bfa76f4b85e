"""Amounts of resources by name, as measures use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedviz.engine.framework.resource import Resource


def amounts(resource: Resource) -> dict[str, int]:
    """A Resource by name: milli-cpus, bytes, counts."""
    return {
        "cpu": resource.milli_cpu,
        "memory": resource.memory,
        "ephemeral-storage": resource.ephemeral_storage,
        **resource.scalar,
    }
