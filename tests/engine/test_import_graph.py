"""No module of the engine or the trace imports itself by way of others, including imports for type checking and inside functions."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp
import pytest


@pytest.mark.parametrize("package", ["schedviz.engine", "schedviz.trace"])
def test_modules_import_each_other_in_one_direction(package: str) -> None:
    graph = grimp.build_graph("schedviz", cache_dir=None)
    modules = {name for name in graph.modules if name.startswith(f"{package}.")}
    assert len(modules) > 20
    # Raises CycleError, which names the cycle.
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) & modules for name in modules}).prepare()
