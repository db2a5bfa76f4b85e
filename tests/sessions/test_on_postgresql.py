"""Everything about sessions again, on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, PostgresServer

HERE = Path(__file__).parent


@pytest.mark.postgres
def test_sessions_work_the_same_on_postgresql(postgres_server: PostgresServer) -> None:
    """In a pytest process of its own: Django has one database in a process."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        str(HERE),
        "--deselect",
        str(Path(__file__).relative_to(ROOT)),
    ]
    environment = {**os.environ, "SCHEDVIZ_DATABASE_URL": postgres_server.url}

    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=1500)

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
