"""The size of what a browser loads before it draws the first page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.bench.report import Figure

_FONT = ".woff2"
APP = Path(__file__).parents[2] / "schedviz/web/static/app"


def first_load() -> list[Figure]:
    """The entry, the largest page that it loads, and all that these import and show, gzipped; fonts beside it, which come after the page is there."""
    manifest = json.loads((APP / ".vite/manifest.json").read_text("utf-8"))
    entry = next(name for name, chunk in manifest.items() if chunk.get("isEntry"))
    pages = manifest[entry].get("dynamicImports") or [entry]
    largest = max((_files(manifest, {entry, page}) for page in pages), key=_size)
    fonts = {file for file in largest if file.endswith(_FONT)}
    return [
        Figure("first-load bundle, gzip", f"{_size(largest - fonts) / 1024:.1f} KB", "≤ 150 KB"),
        Figure("its fonts, which text does not wait for", f"{_size(fonts) / 1024:.1f} KB"),
    ]


def _size(files: set[str]) -> int:
    return sum(map(_gzipped, files))


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
