"""The size of what a browser loads before it draws the first page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.bench.report import Figure

APP = Path(__file__).parents[2] / "schedviz/web/static/app"


def first_load() -> Figure:
    """The entry, the largest page that it loads, and all that these import and show (fonts too), gzipped."""
    manifest = json.loads((APP / ".vite/manifest.json").read_text("utf-8"))
    entry = next(name for name, chunk in manifest.items() if chunk.get("isEntry"))
    pages = manifest[entry].get("dynamicImports") or [entry]
    largest = max(sum(_gzipped(file) for file in _files(manifest, {entry, page})) for page in pages)
    return Figure("first-load bundle with fonts, gzip", f"{largest / 1024:.1f} KB", "< 150 KB")


def _files(manifest: dict[str, dict[str, Any]], names: set[str]) -> set[str]:
    waiting, seen, files = list(names), set[str](), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        chunk = manifest[name]
        files |= {chunk["file"], *chunk.get("css", []), *chunk.get("assets", [])}
        waiting += chunk.get("imports", [])
    return files


def _gzipped(file: str) -> int:
    return len(gzip.compress((APP / file).read_bytes(), 9))
