"""The list of pictures: views by width, colour scheme, language and cluster size; and the forty references, in which every pair of these occurs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Final, Literal
from zlib import crc32

import msgspec
from playwright.sync_api import Page

Scheme = Literal["dark", "light"]
Language = Literal["en", "zh-CN"]
Cluster = Literal["none", "four", "midway", "middle", "large", "crowded"]

WIDTHS: Final = (1280, 1920, 390)
HEIGHTS: Final = {1280: 800, 1920: 1080, 390: 844}
SCHEMES: Final[tuple[Scheme, ...]] = ("dark", "light")
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh-CN")
#: Cluster sizes of the session page: 0, 4, 200 and 5,000 nodes.
SIZES: Final[tuple[Cluster, ...]] = ("none", "four", "middle", "large")
PATIENCE_MILLIS: Final = 60_000


class View(msgspec.Struct, frozen=True):
    """A view of the product: its URL, its cluster, and the actions before the picture is taken."""

    name: str
    #: `{id}` stands for the session of the cluster.
    address: str
    prepare: Callable[[Page], None]
    clusters: tuple[Cluster, ...] = ("four",)
    #: Phones are read-only.
    acts: bool = False


class Shot(msgspec.Struct, frozen=True):
    """One picture."""

    view: View
    cluster: Cluster
    width: int
    scheme: Scheme
    language: Language

    @property
    def name(self) -> str:
        size = f"-{self.cluster}" if len(self.view.clusters) > 1 else ""
        return f"{self.view.name}{size}-{self.width}-{self.scheme}-{self.language}"


def _drawn(page: Page) -> None:
    page.locator("#queue-title").wait_for(timeout=PATIENCE_MILLIS)


def _keys(*keys: str, then: str) -> Callable[[Page], None]:
    def press(page: Page) -> None:
        _drawn(page)
        for key in keys:
            page.keyboard.press(key)
        page.locator(then).first.wait_for(timeout=PATIENCE_MILLIS)

    return press


def _matrix(page: Page) -> None:
    _drawn(page)
    page.locator("section[aria-labelledby=cycle-title] [role=radio]").nth(1).click()
    page.mouse.move(0, 0)  # An element under the pointer looks different, and which one it is depends on the scroll position.
    page.locator("[data-matrix]:not([data-matrix=''])").wait_for(timeout=PATIENCE_MILLIS)


def _times(page: Page) -> None:
    _drawn(page)
    page.locator("[data-times-toggle]").click()
    page.locator("[data-times]").first.wait_for(timeout=PATIENCE_MILLIS)


def _preemption(page: Page) -> None:
    _drawn(page)
    page.locator("[data-reprieves]").wait_for(timeout=PATIENCE_MILLIS)
    page.locator("[data-reprieves]").scroll_into_view_if_needed()


def _pod(tab: str) -> str:
    return f"/s/{{id}}/?select=pod:default/batch-2&tab={tab}"


def _shown(selector: str) -> Callable[[Page], None]:
    def wait(page: Page) -> None:
        page.locator(selector).first.wait_for(timeout=PATIENCE_MILLIS)

    return wait


VIEWS: Final = (
    View("session", "/s/{id}/", _drawn, SIZES),
    View("matrix", "/s/{id}/", _matrix, ("middle",)),
    View("times", "/s/{id}/", _times),
    View("preemption", "/s/{id}/", _preemption, ("crowded",)),
    View("why", _pod("why"), _shown("[data-why-sentence]")),
    View("history", _pod("history"), _shown("[data-entry]")),
    View("node", "/s/{id}/?select=node:node-1&tab=describe", _shown("[data-described] [data-resource]")),
    View("table", "/s/{id}/", _keys("c", then="table[aria-label] tr[data-key]")),
    View("inject", "/s/{id}/", _keys("n", then=".cm-content"), acts=True),
    View("configuration", "/s/{id}/", _keys("g", then=".cm-content, [role=dialog] table"), acts=True),
    View("palette", "/s/{id}/", _keys("/", then="#found [role=option]")),
    View("help", "/s/{id}/", _keys("?", then="dialog[open]")),
    View("overview", "/s/{id}/", _keys("w", then="[data-overview]")),
    View("export", "/s/{id}/", _keys("e", then="dialog[open]")),
    View("sessions", "/sessions/", _shown("tr[data-session]")),
    View("lessons", "/lessons/", _shown("[data-lesson]")),
    View("panel", "/s/{id}/panel/cache/", _shown("#cache-title")),
)


def every_shot() -> list[Shot]:
    """All combinations; views with actions are not taken on a phone."""
    return [
        Shot(view, cluster, width, scheme, language)
        for width, scheme, language in product(WIDTHS, SCHEMES, LANGUAGES)
        for view in VIEWS
        for cluster in view.clusters
        if not (view.acts and width == WIDTHS[2])
    ]


REFERENCES: Final = 40
#: Texts that differ in each run: plugins' times, creation times of sessions.
_PASSING: Final = frozenset({"times", "sessions"})


def _pairs(*members: str) -> set[tuple[str, str]]:
    return {pair for pair in combinations(members, 2) if "" not in pair}


def pairs_of_kinds(shot: Shot) -> set[tuple[str, str]]:
    """The pairs of width, scheme, language and size; a view of a single cluster has no size."""
    return _pairs(str(shot.width), shot.scheme, shot.language, shot.cluster if len(shot.view.clusters) > 1 else "")


def pairs_of_view(shot: Shot) -> set[tuple[str, str]]:
    """The pairs of the view with width, scheme and language."""
    return {(shot.view.name, kind) for kind in (str(shot.width), shot.scheme, shot.language, shot.cluster)}


def reference_shots() -> list[Shot]:
    """Forty pictures, which cover all pairs of width, scheme, language and size, and as many pairs of views with these as possible."""
    # Shuffled, since the first of equals is taken.
    left = sorted((shot for shot in every_shot() if shot.view.name not in _PASSING), key=lambda shot: crc32(shot.name.encode()))
    chosen: list[Shot] = []
    covered: set[tuple[str, str]] = set()
    while len(chosen) < REFERENCES:
        best = max(left, key=lambda shot: (len(pairs_of_kinds(shot) - covered), len(pairs_of_view(shot) - covered)))
        left.remove(best)
        chosen.append(best)
        covered |= pairs_of_kinds(best) | pairs_of_view(best)
    return chosen
