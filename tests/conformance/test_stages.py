"""An engine that is saved and restored between any two stages of a trace continues identically."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from schedviz.cli import restore_check

_spec = importlib.util.spec_from_file_location("conformance_traces", Path(__file__).with_name("traces.py"))
assert _spec is not None
assert _spec.loader is not None
traces = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(traces)

#: The random traces of v1.27.1, and every fourth of the others. `schedviz conformance --restore SEED DIR` does it with any.
FILES = [path for index, path in enumerate(traces.FILES) if not path.name.startswith((*"0123456789", "v1.36-")) or index % 4 == 0]


@pytest.mark.parametrize("path", FILES, ids=traces.name_of)
def test_restoring_between_two_stages_changes_nothing(path: Path) -> None:
    assert list(restore_check.differences(traces.trace_in(path), seed=path.name)) == []
