"""The wheel brings the built page with it, and says what is missing when it cannot be built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MANIFEST = "schedviz/web/static/app/.vite/manifest.json"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source tree without a built page."""
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "schedviz", tmp_path / "schedviz", ignore=shutil.ignore_patterns("__pycache__", "app"))
    return tmp_path


def build(source: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    return subprocess.run(command, cwd=source, env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False, timeout=120)


def test_the_wheel_holds_the_built_page_and_the_command(source: Path):
    built = source / MANIFEST
    built.parent.mkdir(parents=True)
    built.write_text("{}")

    done = build(source)

    assert done.returncode == 0, done.stderr
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
        assert "schedviz = schedviz.cli.main:main" in archive.read(entry_points).decode()
    assert MANIFEST in names
    assert "schedviz/up/watcher.py" in names
    assert any(name.startswith("schedviz/sessions/migrations/0001") for name in names)
    assert not any(name.startswith(("tests/", "frontend/")) for name in names)


def test_without_npm_and_without_a_built_page_the_build_says_what_to_do(source: Path):
    done = build(source)

    assert done.returncode != 0
    assert "npm, which builds it, is not on PATH" in done.stderr
    assert "Traceback" not in done.stderr
