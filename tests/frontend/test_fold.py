"""The page's fold of the events gives the engine's own state, on every recorded trace of the real scheduler, after each command."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from frontend.tests.record import main as record
from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
TRACES = sorted((ROOT / "tests/conformance/traces").glob("*.json.xz"))


def test_the_page_folds_every_trace_to_the_engines_state(tmp_path: Path):
    npm = shutil.which("npm")
    if npm is None or not (ROOT / "frontend/node_modules/vitest").exists():
        missing("vitest", "Run `make setup`, with Node.js on the PATH.")
    record(tmp_path, *TRACES)

    done = subprocess.run(
        [npm, "run", "--silent", "test", "--", "tests/model/state/fold.test.ts", "--reporter=dot"],
        cwd=ROOT / "frontend",
        env=os.environ | {"RECORDINGS": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )

    assert TRACES
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
