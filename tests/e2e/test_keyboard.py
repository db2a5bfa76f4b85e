"""The page by keyboard alone: what opens takes the focus, and what closes returns it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


@pytest.fixture
def demo(page: Page, server: Server) -> Page:
    made = server.rest("sessions/", {"generate": {"shape": "demo", "nodes": 4, "pods": 12}})
    page.goto(f"{server.url}/s/{made['id']}/")
    expect(page.locator("[data-queue=activeQ]")).to_be_visible(timeout=PATIENCE_MILLIS)
    return page


def has_focus(page: Page) -> bool:
    """Whether an element has the focus, rather than the page as a whole."""
    return bool(page.evaluate("document.activeElement !== document.body && document.activeElement !== document.documentElement"))


def test_opening_the_drawer_moves_the_focus_into_it_and_closing_returns_it(demo: Page) -> None:
    # The element rather than a locator: a second button for the same pod may be drawn before it meanwhile.
    opener = demo.locator("button[data-kind=pod]").first.element_handle()
    opener.focus()
    demo.keyboard.press("Enter")
    drawer = demo.locator(".drawer")
    expect(drawer).to_be_focused()

    demo.keyboard.press("Tab")
    expect(drawer.get_by_role("button").first).to_be_focused()
    demo.keyboard.press("Enter")
    expect(drawer).to_have_count(0)
    demo.wait_for_function("opener => document.activeElement === opener", arg=opener)


def test_arrow_keys_move_along_the_nodes_and_enter_goes_to_the_details(demo: Page) -> None:
    canvas = demo.get_by_role("application").first
    demo.locator("[data-node-filter]").focus()
    while not demo.evaluate("document.activeElement.matches('canvas[role=application]')"):
        demo.keyboard.press("Tab")
    demo.keyboard.press("ArrowRight")
    demo.keyboard.press("ArrowRight")
    drawer = demo.locator(".drawer")
    expect(drawer).to_be_visible()
    expect(canvas).to_be_focused()

    demo.keyboard.press("Enter")
    expect(drawer).to_be_focused()
    demo.keyboard.press("Escape")
    expect(canvas).to_be_focused()


def test_the_first_stop_of_the_keyboard_skips_the_header(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case]").first.wait_for(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Tab")
    expect(page.locator("[data-skip]")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("main :focus")).to_be_visible()


def test_stepping_with_the_buttons_keeps_the_focus(demo: Page) -> None:
    for press in ("Enter", "Enter", "Enter"):
        button = demo.locator(".transport button").nth(3)
        button.focus()
        demo.keyboard.press(press)
        expect(demo.locator("[data-narration]")).to_contain_text("Cycle", timeout=PATIENCE_MILLIS)
        assert has_focus(demo)


def test_the_end_of_the_tour_leaves_the_focus_on_the_page(browser: Browser, signed_in: BrowserContext, server: Server) -> None:
    context = browser.new_context(storage_state=signed_in.storage_state(), viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(server.url)
    page.evaluate("localStorage.removeItem('schedviz.tour')")
    made = server.rest("sessions/", {"generate": {"shape": "demo", "nodes": 4, "pods": 12}})
    page.goto(f"{server.url}/s/{made['id']}/")
    skip = page.locator("[data-tour-skip]")
    skip.focus(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Enter")
    expect(skip).to_have_count(0)

    assert has_focus(page)
    context.close()


def test_a_lesson_is_completed_by_keyboard(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/lessons/")
    page.locator("main button").first.click(timeout=PATIENCE_MILLIS)
    page.wait_for_url("**/s/*/**", timeout=PATIENCE_MILLIS)
    asking = page.locator("form.asking")
    asking.wait_for(timeout=PATIENCE_MILLIS)
    if asking.get_attribute("data-ask") == "number":
        asking.locator("input").press("1")
    else:
        asking.locator("[data-option]").first.press("Enter")
    asking.locator("button.main").press("Enter")
    expect(page.locator(".lesson .answer")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator(".lesson:focus-within")).to_be_visible(timeout=PATIENCE_MILLIS)

    following = page.locator("[data-lesson-next]")
    stop = page.locator("[data-stop]").get_attribute("data-stop")
    following.press("Enter")
    expect(page.locator(f"[data-stop]:not([data-stop={stop}])")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator(".lesson:focus-within")).to_be_visible(timeout=PATIENCE_MILLIS)

    page.get_by_role("button", name="Back", exact=True).press("Enter")
    expect(page.locator(f"[data-stop={stop}]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator(".lesson:focus-within")).to_be_visible(timeout=PATIENCE_MILLIS)
