"""The recipes of docs/recipes.md work as written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from schedviz.client.server import find_server
from tests.client.conftest import recipes

ALL = list(recipes())[1:]
#: A word that the output of each recipe contains.
SAYS = {
    "1.": "moved",
    "2.": "filled in cycle",
    "4.": "Insufficient cpu",
    "5.": "Insufficient cpu",
    "6.": "-again",
    "7.": "scheduled",
    "8.": "bound",
    "9.": "'cpu': 1500",
    "10.": "[",
}


@pytest.mark.parametrize(("title", "language", "code"), ALL, ids=[f"{title.partition(' ')[0]}{language}" for title, language, _ in ALL])
@pytest.mark.usefixtures("here")
def test_each_recipe_runs_and_prints_what_the_page_says(folder: Path, machine: dict[str, str], title: str, language: str, code: str):
    command = [sys.executable, "-"] if language == "python" else ["bash", "-euo", "pipefail", "-c", code]

    # curl needs the server's address.
    there = find_server()
    told = {"SCHEDVIZ_SERVER": there.address, "SCHEDVIZ_TOKEN": there.token} if "curl" in code else {}

    done = subprocess.run(command, input=code, cwd=folder, env=machine | told, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    expected = SAYS.get(title.partition(" ")[0], "")
    assert expected in done.stdout + (done.stderr if title.startswith("4.") else "") or (
        expected == "moved" and "on another node" in done.stdout
    ), done.stdout


def test_comparing_two_configurations_takes_ten_lines_at_most():
    for _, language, code in [one for one in ALL if one[0].startswith("1.")]:
        assert len([line for line in code.splitlines() if line.strip()]) <= 10, language
