"""A supervisor over toy children."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.up.running import Start, starter


@pytest.fixture
def start_toys(tmp_path: Path) -> Iterator[Start]:
    """A function that starts a supervisor over toy children. All processes are killed at the end."""
    yield from starter(tmp_path, lambda kinds: [sys.executable, str(Path(__file__).with_name("toy_supervisor.py")), str(tmp_path), *kinds])
