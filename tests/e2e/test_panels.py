"""Panels as pages of their own, and embedded in another site with a share link and without a cookie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.cluster import dump
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, figure, import_through, step_cycles

pytestmark = pytest.mark.browser


@pytest.fixture
def session(page: Page, server: Server, tmp_path: Path) -> str:
    """A session after three cycles."""
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(dump(nodes=4)))
    made = import_through(page, server, file)
    step_cycles(page, 3)
    return made


def test_a_panel_has_its_own_page_with_time_travel(page: Page, server: Server, session: str) -> None:
    page.goto(f"{server.url}/s/{session}/panel/cycle/?cycle=2")

    expect(page.locator("[data-cycle]")).to_have_attribute("data-cycle", "2", timeout=PATIENCE_MILLIS)
    assert page.locator("[data-queue], [data-strip], [data-transport]").count() == 0
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-cycle]")).to_have_attribute("data-cycle", "1", timeout=PATIENCE_MILLIS)
    page.keyboard.press("l")
    expect(page.locator("[data-cycle]")).to_have_attribute("data-cycle", "3", timeout=PATIENCE_MILLIS)


def test_panes_link_to_their_panels(page: Page, server: Server, session: str) -> None:
    for panel in ("queue", "cycle", "cache"):
        assert page.locator(f'a[href="/s/{session}/panel/{panel}/"]').count() == 1


def test_an_embedded_panel_needs_no_cookie_and_sets_none(browser: Browser, server: Server, page: Page, session: str) -> None:
    event = figure(page, "data-event")
    secret = server.rest(f"sessions/{session}/links/", {"role": "viewer"})["url"].partition("link=")[2]
    context = browser.new_context()
    reader = context.new_page()
    sockets: list[str] = []
    reader.on("websocket", lambda opened: sockets.append(opened.url))

    reader.goto(f"{server.url}/embed/{session}/loop/?link={secret}&theme=light")

    expect(reader.locator("[data-event]").first).to_have_attribute("data-event", str(event), timeout=PATIENCE_MILLIS)
    assert reader.locator("[data-queue=activeQ]").count() == 1
    assert reader.evaluate("getComputedStyle(document.body).colorScheme || document.documentElement.dataset.theme")
    reader.keyboard.press("ArrowLeft")
    expect(reader.locator("[data-event]").first).not_to_have_attribute("data-event", str(event), timeout=PATIENCE_MILLIS)
    assert sockets
    assert not any(secret in url for url in sockets), "a proxy would log it"
    assert context.cookies() == []
    assert reader.evaluate("localStorage.length") == 0
    assert server.rest(f"sessions/{session}/")["event"] == event
    context.close()


def test_on_a_phone_the_timeline_is_on_the_screen_wherever_the_page_is_scrolled(page: Page, server: Server, session: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/s/{session}/")
    page.locator("[data-timeline-toggle]").click(timeout=PATIENCE_MILLIS)
    timeline = page.locator("canvas[data-window]")
    timeline.wait_for(timeout=PATIENCE_MILLIS)
    for scrolled in (0, 900, 99_999):
        page.evaluate(f"scrollTo(0, {scrolled})")
        box = timeline.bounding_box()
        assert box
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 844, scrolled
        assert box["height"] < 844 / 4


def test_on_a_phone_panels_are_stacked_queue_first_and_nothing_overflows(page: Page, server: Server, session: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/s/{session}/")
    page.locator("#cache-title").wait_for(timeout=PATIENCE_MILLIS)

    tops = [page.locator(title).bounding_box() for title in ("#queue-title", "#cycle-title", "#cache-title")]

    assert all(box is not None and box["x"] < 40 for box in tops)
    heights = [box["y"] for box in tops if box is not None]
    assert heights == sorted(heights)
    assert heights[0] + 100 < heights[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # The page scrolls and no pane in it does, so that a swipe over a pane scrolls the page.
    assert (
        page.evaluate(
            "[...document.querySelectorAll('.pane, .stage-list, #cache-inspector')].filter(e => getComputedStyle(e).overflowY !== 'visible').length"
        )
        == 0
    )


def test_a_printed_page_has_the_whole_cycle_and_no_controls(page: Page, server: Server, session: str) -> None:
    page.goto(f"{server.url}/s/{session}/")
    page.locator("[data-cycle]").wait_for(timeout=PATIENCE_MILLIS)

    page.emulate_media(media="print", reduced_motion="reduce")

    assert not page.locator("[data-transport]").first.is_visible()
    rail = page.locator("ol[aria-label]").filter(has=page.locator("[data-stage]")).last
    assert rail.evaluate("list => list.scrollHeight <= list.clientHeight + 1")
    page.emulate_media(media="screen", reduced_motion="reduce")
