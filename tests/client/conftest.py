"""A running `schedviz up`, which the client, the commands and the recipes find by its data folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedviz.client import Client
from tests.up.running import starter

RECIPES = Path(__file__).resolve().parents[2] / "docs/recipes.md"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes() -> Iterator[tuple[str, str, str]]:
    """The recipes: title, language, code."""
    for section in RECIPES.read_text(encoding="utf-8").split("\n## ")[1:]:
        for language, code in _BLOCK.findall(section):
            yield section.partition("\n")[0], language, code


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a running server."""
    folder = tmp_path_factory.mktemp("client")
    data = folder / "data"
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--port", "0", "--data", str(data), "--no-open"]
    for start in starter(folder, lambda _: command):
        running = start()
        running.login_link()
        yield data


@pytest.fixture
def here(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the environment of this process so that the client finds that server."""
    monkeypatch.setenv("SCHEDVIZ_DATA", str(data))
    for name in ("SCHEDVIZ_SERVER", "SCHEDVIZ_TOKEN", "SCHEDVIZ_SESSION"):
        monkeypatch.delenv(name, raising=False)
    return data


@pytest.fixture
def client(here: Path) -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture(scope="session")
def machine(data: Path) -> dict[str, str]:
    """The environment of a shell in which commands find that server."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCHEDVIZ_", "DJANGO_", "PYTEST_"))}
    root = str(Path(__file__).resolve().parents[2])
    return {**environment, "SCHEDVIZ_DATA": str(data), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": root}


@pytest.fixture(scope="session")
def folder(machine: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the recipes."""
    folder = tmp_path_factory.mktemp("recipes")
    _, _, code = next(recipes())
    subprocess.run(["bash", "-euo", "pipefail", "-c", code], cwd=folder, env=machine, check=True)
    return folder
