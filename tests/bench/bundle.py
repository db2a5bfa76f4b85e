"""The size of what a browser loads before it draws the first page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.bench.report import Figure

APP = Path(__file__).parents[2] / "schedviz/web/static/app"


def first_load() -> Figure:
    """Every file of the entry and of what it imports statically, gzipped."""
    manifest = json.loads((APP / ".vite/manifest.json").read_text("utf-8"))
    largest = 0
    for entry in (name for name, chunk in manifest.items() if chunk.get("isEntry")):
        names, seen, files = [entry], set(), set()
        while names:
            name = names.pop()
            if name in seen:
                continue
            seen.add(name)
            chunk = manifest[name]
            files |= {chunk["file"], *chunk.get("css", [])}
            names += chunk.get("imports", [])
        largest = max(largest, sum(len(gzip.compress((APP / file).read_bytes(), 9)) for file in files))
    return Figure("first-load bundle, gzip", f"{largest / 1024:.1f} KB", "< 150 KB")
