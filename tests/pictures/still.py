"""A picture of a page that stands still: the same page gives the same picture, however busy the machine is."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

#: What says how fast something was is another thing in each run; a caret blinks.
STYLE: Final = """
[data-link], [data-measured], [data-times] .number { visibility: hidden !important }
[data-link] { box-sizing: border-box; width: 84px; overflow: hidden }
* { caret-color: transparent !important; animation: none !important; transition: none !important }
"""
#: Colours are mixed and places are rounded in one way.
FLAGS: Final = (
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-font-subpixel-positioning",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)
#: What was asked for is on the screen after two frames, and its font is asked for on the first.
_DRAWN: Final = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => document.fonts.ready.then(done))))"
_PATIENCE_SECONDS: Final = 60
_PAUSE_SECONDS: Final = 0.3


def surroundings() -> dict[str, str]:
    """The environment of a browser whose text is smoothed in one way, whatever the machine's settings say."""
    return {**os.environ, "FONTCONFIG_FILE": str(Path(__file__).with_name("fonts.conf"))}


def picture_of(page: Page, *, whole: bool = False) -> bytes:
    """A PNG, taken as soon as two in a row are the same; `whole`: also of what is below the screen."""
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
