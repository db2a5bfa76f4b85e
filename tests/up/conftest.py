"""What the tests of the supervisor share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.up.running import Start, starter


@pytest.fixture
def start_toys(tmp_path: Path) -> Iterator[Start]:
    """Start a supervisor over toy children; whatever a test leaves behind is killed."""
    yield from starter(tmp_path, lambda kinds: [sys.executable, str(Path(__file__).with_name("toy_supervisor.py")), str(tmp_path), *kinds])
