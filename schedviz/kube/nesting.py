"""The nesting depth of decoded JSON. Everything that walks JSON by recursion relies on its limit."""

from __future__ import annotations

from typing import Any, Final

#: The deepest nesting of lists and objects in a request. Kubernetes' objects need about 20 levels. Imported files have the same limit
#: (`ingest.limits.Limits.nesting_depth`).
NESTING_DEPTH: Final = 100
#: Why a deeper one is refused.
TOO_DEEP: Final = f"lists and objects are nested deeper than {NESTING_DEPTH} levels, which is the limit"


def is_nested_deeper(value: Any, limit: int = NESTING_DEPTH) -> bool:
    """Whether lists and objects are nested in more than `limit` levels. Takes no recursion, and one pass over the value."""
    level = [value]
    for _ in range(limit + 1):
        containers = [value for value in level if isinstance(value, dict | list)]
        if not containers:
            return False
        level = [inner for container in containers for inner in (container.values() if isinstance(container, dict) else container)]
    return True
