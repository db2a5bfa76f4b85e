"""The colours of cards: those of the page (frontend/src/theme/tokens.css)."""

from __future__ import annotations

from typing import Final, Literal, get_args

import msgspec

ThemeName = Literal["light", "dark"]
THEME_NAMES: Final[tuple[ThemeName, ...]] = get_args(ThemeName)


class Theme(msgspec.Struct, frozen=True):
    """Colours as `#rrggbb`."""

    paper: str
    sunk: str
    ink: str
    ink_2: str
    ink_3: str
    line: str
    line_strong: str
    #: The part of a bar that is used, and the part beyond a domain's limit.
    used: str
    #: What the pod requests, and the first reason; the other reasons follow in this order.
    reasons: tuple[str, ...]
    success: str
    accent: str


THEMES: Final[dict[ThemeName, Theme]] = {
    "light": Theme(
        paper="#ffffff",
        sunk="#f4f4f2",
        ink="#1a1f26",
        ink_2="#56616d",
        ink_3="#5e6975",
        line="#e3e4e2",
        line_strong="#bcc2c8",
        used="#8299b3",
        reasons=("#a96200", "#a83674", "#3f5fd0", "#08748f", "#5e6975"),
        success="#217a50",
        accent="#08748f",
    ),
    "dark": Theme(
        paper="#14181e",
        sunk="#0a0c10",
        ink="#dfe4ea",
        ink_2="#9aa5b1",
        ink_3="#76828f",
        line="#222933",
        line_strong="#3a4552",
        used="#566e8a",
        reasons=("#e39b3b", "#d873a6", "#7f9cff", "#45b8d8", "#76828f"),
        success="#58b585",
        accent="#45b8d8",
    ),
}
