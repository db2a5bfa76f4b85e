"""The wheel contains the built page, and reports what is missing if the page cannot be built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MANIFEST = "schedviz/web/static/app/.vite/manifest.json"
REPORT = "schedviz/experiments/report/built/report.js"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source tree without a built page."""
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "schedviz", tmp_path / "schedviz", ignore=shutil.ignore_patterns("__pycache__", "app", "built"))
    return tmp_path


def build(source: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    return subprocess.run(command, cwd=source, env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False, timeout=120)


def test_the_wheel_contains_the_built_page_and_the_command(source: Path):
    for name in (MANIFEST, REPORT):
        built = source / name
        built.parent.mkdir(parents=True)
        built.write_text("{}")

    done = build(source)

    assert done.returncode == 0, done.stderr
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
        assert "schedviz = schedviz.cli.main:main" in archive.read(entry_points).decode()
    assert {MANIFEST, REPORT} <= set(names)
    assert "schedviz/up/parent_watcher.py" in names
    assert any(name.startswith("schedviz/sessions/migrations/0001") for name in names)
    assert not any(name.startswith(("tests/", "frontend/")) for name in names)


def test_without_npm_and_a_built_page_the_build_fails_and_says_what_to_do(source: Path):
    done = build(source)

    assert done.returncode != 0
    assert "npm, which builds it, is not on PATH" in done.stderr
    assert "Traceback" not in done.stderr


ONLY_WHAT_IS_ASKED_FOR = """
import importlib.abc, importlib.metadata, sys, tomllib
from packaging.requirements import Requirement

with open("pyproject.toml", "rb") as file:
    wanted = map(Requirement, tomllib.load(file)["project"]["dependencies"])
asked, waiting = set(), [requirement.name for requirement in wanted if requirement.marker is None or requirement.marker.evaluate()]
while waiting:
    name = waiting.pop().lower().replace("_", "-")
    if name in asked:
        continue
    try:
        requirements = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        continue
    asked.add(name)
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            waiting.append(requirement.name)

owners = importlib.metadata.packages_distributions()
others = {
    module for module, names in owners.items() if not asked & {name.lower().replace("_", "-") for name in names}
} - {"schedviz", "tests", "frontend"}


class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] in others:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


for module in [name for name in sys.modules if name.split(".")[0] in others]:
    del sys.modules[module]
sys.meta_path.insert(0, Absent())
import django
django.setup()
import celery.apps.worker, kombu.transport.redis, uvicorn.protocols.websockets.websockets_sansio_impl
import schedviz.asgi, schedviz.celery, schedviz.sessions.tasks, schedviz.urls
import schedviz.up.housekeeper, schedviz.up.run, schedviz.up.web_server, schedviz.up.worker
print(len(asked))
"""


def test_only_declared_dependencies_are_imported(tmp_path: Path):
    environment = {**os.environ, "SCHEDVIZ_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "schedviz.settings"}

    done = subprocess.run(
        [sys.executable, "-c", ONLY_WHAT_IS_ASKED_FOR], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20
