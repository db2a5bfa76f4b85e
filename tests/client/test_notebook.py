"""The notebook of the docs runs from its first cell to its last, and its values have rich displays."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs/client.ipynb"


def shown(code: str, names: dict[str, Any]) -> Any:
    """Run a cell as Jupyter does, and return the value of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None


def test_the_notebook_runs(here: Path):
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}

    values = [shown("".join(cell["source"]), names) for cell in cells]

    html = "".join(value._repr_html_() for value in values if hasattr(value, "_repr_html_"))
    assert all(word in html for word in ("notebook", "unschedulable" if names["outcome"].cycles else "", "<table>", "scheduled", "fit,"))
    assert names["outcome"].stopped == "empty"
    assert not names["comparison"].same
    assert all(cell["outputs"] == [] for cell in cells)
