"""Functions: the standard ones of CEL, and those that Kubernetes adds in every expression of v1.36."""

from collections.abc import Iterator

from schedviz.cel.declarations import Overload
from schedviz.cel.library import lists, optionals, quantities, regular_expressions, semantic_versions, sets, standard, strings


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    for module in (standard, strings, regular_expressions, lists, sets, optionals, quantities, semantic_versions):
        yield from module.functions()
