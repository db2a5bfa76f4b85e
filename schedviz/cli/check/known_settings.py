"""The environment variables that schedviz reads, so that mistyped names are noticed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

import schedviz

_NAME = re.compile(r"SCHEDVIZ_[A-Z0-9_]*[A-Z0-9]")


def unknown_settings(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables named as settings of schedviz that are none, with the most similar one; "" if none is similar."""
    given = sorted(name for name in environment if name.startswith("SCHEDVIZ_") and not name.startswith("SCHEDVIZ_TEST_"))
    known = _names_in_sources() if given else set()
    for name in given:
        if name not in known:
            yield name, next(iter(get_close_matches(name, known, n=1)), "")


def _names_in_sources() -> set[str]:
    """They are not all read in one place: those of the command line and of workers are read where they are used."""
    sources = Path(schedviz.__file__).parent.rglob("*.py")
    return {name for source in sources for name in _NAME.findall(source.read_text(encoding="utf-8"))}
