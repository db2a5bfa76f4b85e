"""The files and the names in them that the documentation and comments send a reader to exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: The documentation for contributors, whose code is in this tree.
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", ROOT / "STYLE.md", *sorted((ROOT / "docs").glob("*.md"))]
#: Paths that a reader makes, and patterns.
NOT_THERE = {
    "docker/.env",
    "docs/decisions/NNNN-title.md",
    "frontend/src/i18n/messages/en.PART.json",
    "schedviz/engine/framework/plugins/applimit/",
    "tests/engine/framework/plugins/test_app_limit.py",
}
_PATH = r"`((?:docker|docs|frontend|schedviz|tests|tools)/[\w./-]+)`"
#: A file of this tree in a comment, whose path may lack its beginning.
_NAMED_FILE = r"`([\w./-]*\w\.(?:py|ts|svelte))`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_paths_on_a_page_exist(page: Path) -> None:
    paths = set(re.findall(_PATH, page.read_text()))
    assert [path for path in sorted(paths - NOT_THERE) if not (ROOT / path).exists()] == []


def test_the_files_that_comments_name_exist() -> None:
    code = [*(ROOT / "schedviz").rglob("*.py"), *(ROOT / "frontend" / "src").rglob("*.ts"), *(ROOT / "frontend" / "src").rglob("*.svelte")]
    places = [*code, *(ROOT / "tests").rglob("*.py"), *(ROOT / "tools").rglob("*.py"), *ROOT.glob("*.py")]
    known = [f"/{path.relative_to(ROOT)}" for path in places]
    named = {(str(path.relative_to(ROOT)), name) for path in code for name in re.findall(_NAMED_FILE, path.read_text("utf-8"))}
    assert [(path, name) for path, name in sorted(named) if not any(each.endswith(f"/{name}") for each in known)] == []


def test_the_names_that_the_first_change_extends_are_in_their_files() -> None:
    text = (ROOT / "docs" / "first-change.md").read_text()
    named = re.findall(r"`(\w+)`(?: \w+)? (?:in|of) " + _PATH, text)
    assert {name for name, _ in named} >= {"in_tree_registry", "NODES", "REGISTERED", "requeueEventsOf"}
    assert [(name, path) for name, path in named if not re.search(rf"\b{name}\b", (ROOT / path).read_text())] == []


def test_the_functions_that_the_first_change_tests_are_imported_there() -> None:
    text = (ROOT / "docs" / "first-change.md").read_text()
    tested = re.findall(r"expect\((\w+)\(", text)
    assert tested
    tests = (ROOT / "frontend" / "tests" / "model" / "queue" / "queuePane.test.ts").read_text()
    assert [name for name in tested if not re.search(rf"import {{[^}}]*\b{name}\b", tests)] == []
