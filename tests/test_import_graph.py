"""Rules of imports that the import linter does not check, such as that no module imports itself by way of others, including imports for
type checking and inside functions.
"""

from __future__ import annotations

import pkgutil
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

import schedviz.engine

ROOT = Path(__file__).parent.parent


def test_modules_import_each_other_in_one_direction() -> None:
    graph = grimp.build_graph("schedviz", cache_dir=None)
    assert len(graph.modules) > 500
    # Raises CycleError, which names the cycle.
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()


def test_the_contract_of_plugins_names_every_other_module_of_the_engine() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    forbidden = next(set(contract["forbidden_modules"]) for contract in contracts if contract["name"].startswith("Plugins"))
    engine = {f"schedviz.engine.{module.name}" for module in pkgutil.iter_modules(schedviz.engine.__path__)}

    assert engine - forbidden == {f"schedviz.engine.{name}" for name in ("framework", "config", "features", "clock")}
    assert forbidden <= engine
