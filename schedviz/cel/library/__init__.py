"""Functions: the standard ones of CEL, and those that Kubernetes adds in every expression of v1.36."""

from collections.abc import Iterator

from schedviz.cel.declarations import Overload
from schedviz.cel.library import (
    formatting,
    lists,
    networks,
    optionals,
    quantities,
    regular_expressions,
    semantic_versions,
    sets,
    standard,
    strings,
    times,
    urls,
)

_MODULES = (
    standard,
    times,
    strings,
    formatting,
    regular_expressions,
    lists,
    sets,
    optionals,
    quantities,
    semantic_versions,
    networks,
    urls,
)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    for module in _MODULES:
        yield from module.functions()
