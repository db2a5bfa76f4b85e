"""The pages that the server's templates ask for are those that the script can show."""

from __future__ import annotations

import re

from tests.conftest import ROOT

_ASKED = re.compile(r'id="app" data-page="([^"]*)"')
_KNOWN = re.compile(r"^  (\w+): \(", re.MULTILINE)


def test_the_script_knows_the_pages_of_all_templates() -> None:
    asked = {page for template in (ROOT / "schedviz/web").rglob("*.html") for page in _ASKED.findall(template.read_text("utf-8"))}
    table = (ROOT / "frontend/src/main.ts").read_text("utf-8").partition("const PAGES")[2].partition("\n};")[0]

    assert asked == set(_KNOWN.findall(table))
