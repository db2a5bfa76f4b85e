"""Takes reproducible screenshots: the same page gives the same picture, however busy the machine is."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

#: Hides what differs in each run: durations, and the caret.
STYLE: Final = """
[data-connection], [data-measured], [data-times] .number { visibility: hidden !important }
[data-connection] { box-sizing: border-box; width: 84px; overflow: hidden }
* { caret-color: transparent !important; animation: none !important; transition: none !important }
"""
#: Fixes colour blending and rounding of positions.
FLAGS: Final = (
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-font-subpixel-positioning",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)
#: A change is on the screen after two frames; its font is requested in the first.
_DRAWN: Final = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => document.fonts.ready.then(done))))"
_PATIENCE_SECONDS: Final = 60
_PAUSE_SECONDS: Final = 0.3


def surroundings() -> dict[str, str]:
    """The environment of a browser with fixed font smoothing, independent of the machine's settings."""
    return {**os.environ, "FONTCONFIG_FILE": str(Path(__file__).with_name("fonts.conf"))}


def picture_of(page: Page, *, whole: bool = False) -> bytes:
    """A PNG, taken as soon as two in a row are equal; `whole`: of the whole page instead of the viewport."""
    page.wait_for_load_state("networkidle")
    until = time.monotonic() + _PATIENCE_SECONDS
    before = b""
    while True:
        page.evaluate(_DRAWN)
        picture = page.screenshot(full_page=whole, animations="disabled", caret="hide")
        if picture == before:
            return picture
        if time.monotonic() > until:
            raise TimeoutError("the page does not stand still")
        before = picture
        time.sleep(_PAUSE_SECONDS)
