"""Loads the Python code that a plan names: plugins and measures in files next to it, without a package.

Code runs with the rights of whoever runs the plan, so that nothing is loaded unless the user allowed it.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from schedviz.engine.framework.plugins.installed import offer
from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.measures import Measure
from schedviz.experiments.plans.plan import Code

_HOW_TO_TRUST = "read it, and run the command again with --trust-code"


def load_code(code: Code, folder: Path, *, is_trusted: bool) -> dict[str, Measure]:
    """Offer the plugins to the engines of this process, and return the measures by name. Paths are relative to `folder`.

    Raises `PlanError` with every fault, and without running code if the user did not allow it.
    """
    if code == Code():
        return {}
    if not is_trusted:
        files = ", ".join(sorted({reference.partition(":")[0] for reference in (*code.plugins.values(), *code.measures.values())}))
        raise PlanError.of("code", f"the plan runs Python code of {files} with your rights; {_HOW_TO_TRUST}")
    faults: list[Fault] = []
    measures = {}
    for name, reference in code.plugins.items():
        found = _found(reference, folder, f"code.plugins.{name}", faults)
        if found is not None and not callable(found):
            faults.append(Fault(f"code.plugins.{name}", f"{reference} is not a class of a plugin (docs/plugins.md)"))
        elif found is not None:
            offer(name, found)
    for name, reference in code.measures.items():
        found = _found(reference, folder, f"code.measures.{name}", faults)
        if isinstance(found, Measure):
            measures[name] = found
        elif found is not None:
            faults.append(Fault(f"code.measures.{name}", f"{reference} is not a Measure; decorate the function with schedviz's `measure`"))
    for name, each in measures.items():
        if name != each.name:
            faults.append(Fault(f"code.measures.{name}", f"the measure calls itself {each.name!r}"))
    if faults:
        raise PlanError(faults)
    return measures


def _found(reference: str, folder: Path, path: str, faults: list[Fault]) -> Any:
    """What a `file.py:Name` means; None: a fault was added."""
    file, _, name = reference.partition(":")
    if not file.endswith(".py") or not name.isidentifier():
        faults.append(Fault(path, f"expected `file.py:Name`, the file relative to the plan; found {reference!r}"))
        return None
    try:
        module = _module((folder / file).resolve())
    except FileNotFoundError:
        faults.append(Fault(path, f"there is no file {folder / file}"))
    except Exception as error:  # noqa: BLE001  (this is a user's code)
        faults.append(Fault(path, f"{file} cannot be loaded: {type(error).__name__}: {error}"))
    else:
        if hasattr(module, name):
            return getattr(module, name)
        faults.append(Fault(path, f"{file} has no {name}"))
    return None


def _module(file: Path) -> ModuleType:
    """The module of a file, which can import the other files of its folder. It is loaded once in a process."""
    if not file.is_file():
        raise FileNotFoundError(file)
    if str(file.parent) not in sys.path:
        # At the end, so that no file next to a plan replaces a package.
        sys.path.append(str(file.parent))
    module = importlib.import_module(file.stem)
    if module.__file__ is None or Path(module.__file__).resolve() != file:
        raise ImportError(f"another module is called {file.stem}, {module.__file__ or 'which is built in'}; rename the file")
    return module
