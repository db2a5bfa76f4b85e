"""The files of the documentation, and their order."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from schedviz.web.documentation.rendering import Rendered, render

#: In a wheel, and in a source tree.
_PLACES: Final = (Path(__file__).with_name("docs"), Path(__file__).parents[3] / "docs")

#: The navigation, as in mkdocs.yml, without measurements and decisions.
SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Start": ("index", "install", "glossary"),
    "Use": (
        "tour",
        "cases",
        "explain",
        "doctor",
        "dump",
        "follow",
        "breakpoints",
        "files",
        "readers",
        "helpers",
        "embedding",
        "experiments",
        "gpu-fragmentation",
    ),
    "Concepts": ("concepts", "releases", "devices", "policies", "plugins", "extenders"),
    "Learn and teach": ("lessons", "rooms"),
    "Script": ("recipes", "client", "rest", "wire"),
    "Run": ("operations", "accounts", "reliability", "performance", "page"),
    "Develop": ("first-change", "adding-a-rest-member", "adding-a-metric", "debugging", "decisions/index"),
}
#: Files that pages show or offer.
MEDIA_TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml", ".json": "application/json", ".ipynb": "application/x-ipynb+json"}


class Entry(msgspec.Struct, frozen=True):
    """A page in the navigation."""

    name: str
    title: str


class Section(msgspec.Struct, frozen=True):
    """Pages under one heading."""

    title: str
    entries: tuple[Entry, ...]


def folder() -> Path:
    """The folder of the documentation; the last candidate if none exists."""
    return next((docs_folder for docs_folder in _PLACES if docs_folder.is_dir()), _PLACES[-1])


def sections() -> tuple[Section, ...]:
    """The navigation, without pages that this installation lacks."""
    result = []
    for title, names in SECTIONS.items():
        entries = tuple(Entry(name, page_.title) for name in names if (page_ := page(name)) is not None)
        if entries:
            result.append(Section(title, entries))
    return tuple(result)


def page(name: str) -> Rendered | None:
    """The page `explain` or `decisions/0007-…`; None if there is none. Only files of the folder are read, whatever `name` is."""
    path = _files().get(f"{name}.md")
    return None if path is None else _rendered(path, name, path.stat().st_mtime_ns)


def attachment(name: str) -> Path | None:
    """A file that pages show or offer, such as `pictures/session.png`; None if there is none."""
    path = _files().get(name)
    return path if path is not None and path.suffix in MEDIA_TYPES else None


def _files() -> dict[str, Path]:
    """The files by their path in the folder."""
    return _listed(folder())


@lru_cache(maxsize=2)
def _listed(docs_folder: Path) -> dict[str, Path]:
    return {path.relative_to(docs_folder).as_posix(): path for path in docs_folder.rglob("*") if path.suffix in (".md", *MEDIA_TYPES)}


@lru_cache(maxsize=256)
def _rendered(path: Path, name: str, _changed: int) -> Rendered:
    return render(path.read_text("utf-8"), name)
