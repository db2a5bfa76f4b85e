"""The documentation builds without warnings, has every page, and loads nothing from other hosts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # Without --quiet, which suppresses the warnings that --strict counts.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_document_is_in_the_search_index(site: Path) -> None:
    # Pages that are not in the navigation yet must be in the search index.
    index = json.loads((site / "search/search_index.json").read_text())
    results = {document["location"].partition("#")[0] for document in index["docs"]}
    wanted = {str(path.relative_to(DOCS).with_suffix(".html")) for path in DOCS.rglob("*.md")}
    assert wanted <= results


def test_the_docs_site_loads_nothing_from_other_hosts(site: Path) -> None:
    loaded = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//([^"'/]+)[^>]*>""")
    outside = {
        (page.name, match[0]) for page in pages(site) for match in loaded.finditer(page.read_text()) if 'rel="canonical"' not in match[0]
    }
    assert outside == set()


def test_the_docs_site_can_be_searched_without_a_server(site: Path) -> None:
    # The offline plugin writes the index as a script, since browsers read no JSON from file URLs.
    assert (site / "search/search_index.js").exists()


@pytest.mark.parametrize("word", ["activeQ", "NodeInfo", "snapshot", "Permit", "抢占", "退避"])
def test_the_glossary_has_both_languages(word: str) -> None:
    assert word in (DOCS / "glossary.md").read_text()


def test_each_concept_names_its_upstream_symbol() -> None:
    text = (DOCS / "concepts.md").read_text()
    without = [part.splitlines()[0] for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:] if "Upstream:" not in part]
    assert without == []
