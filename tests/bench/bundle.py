"""The size of what a browser loads before it draws the first page."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

from tests.bench.report import Figure

_FONT = ".woff2"
_CHINESE = re.compile(r"noto-sans-sc-\d+")
APP = Path(__file__).parents[2] / "schedviz/web/static/app"
#: The size limit of each page, in bytes.
MAX_BUNDLE_BYTES = 150 * 1024


def first_load() -> list[Figure]:
    """The size of the largest page, and of the fonts, which load after it."""
    largest, size = max(sizes_of_pages().items(), key=lambda page: page[1])
    manifest = _manifest()
    fonts = {file for file in _files(manifest, {_entry(manifest), largest}) if file.endswith(_FONT)}
    return [
        Figure("first-load bundle, gzip", f"{size / 1024:.1f} KB", f"≤ {MAX_BUNDLE_BYTES / 1024:.0f} KB"),
        Figure("its fonts, which text does not wait for", f"{_size({file for file in fonts if not _CHINESE.search(file)}) / 1024:.1f} KB"),
        Figure("those of Chinese, fetched where it is drawn", f"{_size({file for file in fonts if _CHINESE.search(file)}) / 1024:.1f} KB"),
    ]


def sizes_of_pages() -> dict[str, int]:
    """The gzipped bytes of each page with the entry and everything that both import, without fonts, by the page's source."""
    manifest = _manifest()
    entry = _entry(manifest)
    pages = [name for name in manifest[entry].get("dynamicImports", ()) if name.endswith(".svelte")]
    return {page: _size({file for file in _files(manifest, {entry, page}) if not file.endswith(_FONT)}) for page in pages}


def _manifest() -> dict[str, dict[str, Any]]:
    manifest: dict[str, dict[str, Any]] = json.loads((APP / ".vite/manifest.json").read_text("utf-8"))
    return manifest


def _entry(manifest: dict[str, dict[str, Any]]) -> str:
    return next(name for name, chunk in manifest.items() if chunk.get("isEntry"))


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
