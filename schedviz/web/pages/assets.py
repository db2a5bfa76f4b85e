"""The addresses of the built front end, from the manifest that its build writes."""

from __future__ import annotations

from pathlib import Path

import msgspec
from django.templatetags.static import static

ENTRY = "src/main.ts"
MANIFEST = Path(__file__).resolve().parent.parent / "static" / "app" / ".vite" / "manifest.json"


class Assets(msgspec.Struct, frozen=True):
    """The addresses of the entry's script and style sheets; `script` is "" if the front end is not built."""

    script: str = ""
    styles: list[str] = []


class _Chunk(msgspec.Struct):
    file: str
    css: list[str] = []
    imports: list[str] = []


def assets() -> Assets:
    """The addresses of the newest build. The manifest is read again when it has changed."""
    try:
        changed = MANIFEST.stat().st_mtime_ns
    except FileNotFoundError:
        return Assets()
    if _known.get("changed") != changed:
        _known.update(changed=changed, assets=_read())
    cached = _known["assets"]
    assert isinstance(cached, Assets)
    return cached


_known: dict[str, object] = {}


def _read() -> Assets:
    chunks = msgspec.json.decode(MANIFEST.read_bytes(), type=dict[str, _Chunk])
    styles: list[str] = []
    seen: set[str] = set()

    def collect(name: str) -> None:
        if name in seen or name not in chunks:
            return
        seen.add(name)
        for imported in chunks[name].imports:
            collect(imported)
        styles.extend(static(f"app/{sheet}") for sheet in chunks[name].css)

    collect(ENTRY)
    return Assets(script=static(f"app/{chunks[ENTRY].file}"), styles=styles) if ENTRY in chunks else Assets()
