"""An engine that is saved and restored between any two stages of a trace continues identically."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.cli.conformance import restore_check
from tests.conformance import traces

#: The random traces of v1.27.1, and every fourth of the others. `schedviz conformance --restore SEED DIR` does it with any.
FILES = [path for index, path in enumerate(traces.FILES) if not path.name.startswith((*"0123456789", "v1.36-")) or index % 4 == 0]


@pytest.mark.parametrize("path", FILES, ids=traces.name_of)
def test_restoring_between_two_stages_changes_nothing(path: Path) -> None:
    assert list(restore_check.differences(traces.trace_in(path), seed=path.name)) == []
