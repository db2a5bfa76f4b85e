"""No module imports itself by way of others, including imports for type checking and inside functions."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


def test_modules_import_each_other_in_one_direction() -> None:
    graph = grimp.build_graph("schedviz", cache_dir=None)
    assert len(graph.modules) > 500
    # Raises CycleError, which names the cycle.
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()
