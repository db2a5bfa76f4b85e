"""The page uses its own fonts, and loads only those that it needs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.e2e.conftest import Server

pytestmark = pytest.mark.browser

#: A font is requested when text is laid out, in the next frame at the latest.
LAID_OUT_AND_FETCHED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => document.fonts.ready.then(done))))"

#: The pixels of the heap and of the cache's list, after the next frame is drawn.
PIXELS = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(["canvas[role=img]", "canvas[role=application]"].map((canvas) => document.querySelector(canvas).toDataURL()).join()))))"""


def fonts_of(page: Page) -> dict[str, bool]:
    """The fonts that the page's text is drawn with, and whether they came with it."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("DOM.enable")
    devtools.send("CSS.enable")
    root = devtools.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    drawn: dict[str, bool] = {}
    for node in devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "body *"})["nodeIds"]:
        for font in devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            drawn[font["familyName"]] = font["isCustomFont"]
    devtools.detach()
    return drawn


def test_all_text_uses_fonts_of_the_page(browser: Browser, signed_in: BrowserContext, server: Server):
    with browser.new_context(storage_state=signed_in.storage_state(), locale="en") as context:
        page = context.new_page()
        fetched: list[str] = []
        page.on("request", lambda request: fetched.extend(re.findall(r"noto-sans-sc-(name|400|600)", request.url)))
        page.goto(f"{server.url}/lessons/")
        switch = page.get_by_role("button", name="中文")
        switch.wait_for()
        page.locator("[data-lesson]").first.wait_for()
        page.evaluate(LAID_OUT_AND_FETCHED)
        # The language button has its own small font; the large ones load with the language.
        assert set(fetched) <= {"name"}

        switch.click()
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.evaluate(LAID_OUT_AND_FETCHED)
        assert "400" in fetched
        drawn = fonts_of(page)
        assert any(family.startswith("Noto Sans SC") for family in drawn)
        assert [family for family, came in drawn.items() if not came] == []


def test_canvases_are_drawn_again_with_a_font_that_loads_late(browser: Browser, signed_in: BrowserContext, server: Server):
    session = server.rest("sessions/", {"generate": {"shape": "demo"}, "name": "fonts"})["id"]
    with browser.new_context(storage_state=signed_in.storage_state(), locale="en", reduced_motion="reduce") as context:
        page = context.new_page()
        held: list[Route] = []
        page.route(re.compile(r"inter-latin.*\.woff2"), lambda route: held.append(route))  # noqa: PLW0108 -- Playwright sets an attribute of the handler.
        page.goto(f"{server.url}/s/{session}/")
        page.locator("canvas[role=img]").wait_for()
        early = page.evaluate(PIXELS)
        assert held
        for route in held:
            route.continue_()
        page.wait_for_function(f"async (early) => (await {PIXELS}) !== early", arg=early)
        page.evaluate(LAID_OUT_AND_FETCHED)
        late = page.evaluate(PIXELS)

        page.unroute_all()
        page.reload()
        page.locator("canvas[role=img]").wait_for()
        page.wait_for_function(f"async (late) => (await {PIXELS}) === late", arg=late)
