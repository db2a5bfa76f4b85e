"""Takes the pictures of README.md and docs/tour.md from a running server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.pictures.shots import VIEWS, Cluster, Language, Scheme, Shot
from tests.pictures.still import picture_of
from tests.pictures.studio import Studio

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs/pictures"
_BY_NAME: Final = {view.name: view for view in VIEWS}

#: File, view, cluster, width, scheme, language.
TOUR: Final[tuple[tuple[str, str, Cluster, int, Scheme, Language], ...]] = (
    ("session", "session", "midway", 1280, "dark", "en"),
    ("session-light", "session", "midway", 1280, "light", "en"),
    ("tour-large", "session", "large", 1280, "dark", "en"),
    ("tour-matrix", "matrix", "middle", 1280, "light", "en"),
    ("tour-times", "times", "middle", 1280, "dark", "en"),
    ("tour-preemption", "preemption", "crowded", 1280, "light", "en"),
    ("tour-overview", "overview", "four", 1280, "light", "en"),
    ("tour-why", "why", "four", 1280, "dark", "en"),
    ("tour-node", "node", "four", 1280, "light", "en"),
    ("tour-inject", "inject", "four", 1280, "dark", "en"),
    ("tour-configuration", "configuration", "four", 1280, "light", "en"),
    ("tour-chinese", "session", "middle", 1280, "dark", "zh-CN"),
    ("tour-phone", "session", "four", 390, "light", "en"),
)


def take_tour(studio: Studio, only: str = "") -> None:
    """Write the pictures, or those whose name matches."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, view, cluster, width, scheme, language in TOUR:
        if not re.search(only, file):
            continue
        with studio.open(Shot(_BY_NAME[view], cluster, width, scheme, language)) as page:
            (FOLDER / f"{file}.png").write_bytes(picture_of(page))
