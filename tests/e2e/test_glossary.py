"""Terms are explained where the pointer rests, where they are focused with the keyboard, and where they are tapped."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_accessibility import generated
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser

TIP = "#glossary-tip"


def opened(page: Page, server: Server) -> Page:
    page.goto(f"{server.url}/s/{generated(server, 'demo', 4, 12)}/")
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
    page.locator(TIP).wait_for(state="attached", timeout=PATIENCE_MILLIS)
    return page


def test_the_pointer_gets_the_meaning_of_a_label_and_escape_closes_it(page: Page, server: Server) -> None:
    opened(page, server)
    page.locator("[data-queue=backoffQ] h3 > span").first.hover()
    expect(page.locator(TIP)).to_be_visible()
    expect(page.locator(TIP)).to_have_attribute("data-glossary", "backoffQ")
    expect(page.locator(TIP)).to_contain_text("backoffQ holds pods until their backoff has ended")
    page.keyboard.press("Escape")
    expect(page.locator(TIP)).to_be_hidden()


def test_labels_that_are_terms_are_marked_also_over_the_canvas(page: Page, server: Server) -> None:
    opened(page, server)
    for term in ("activeQ", "headNode", "informer", "gated pod", "PreFilter"):
        expect(page.locator(f"[data-term='{term}']").first).to_have_css("text-decoration-style", "dotted", timeout=PATIENCE_MILLIS)
    page.locator(".head-node").hover()
    expect(page.locator(TIP)).to_contain_text("headNode is the first item of the NodeInfo list")


def test_the_keyboard_focuses_terms_which_the_tip_describes(page: Page, server: Server) -> None:
    opened(page, server)
    page.keyboard.press("Tab")
    label = page.locator("[data-term=backoffQ]")
    expect(label).to_have_count(1)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator("[data-term=backoffQ]:focus").count():
            break
    expect(label).to_be_focused()
    expect(label).to_have_attribute("aria-describedby", "glossary-tip")
    expect(page.locator(TIP)).to_contain_text("backoffQ holds pods until their backoff has ended")
    page.keyboard.press("Tab")
    expect(label).not_to_have_attribute("aria-describedby", "glossary-tip")


def test_choosing_a_pod_by_search_closes_the_meaning_of_the_label_that_had_the_focus(page: Page, server: Server) -> None:
    opened(page, server)
    page.locator("[data-term=activeQ]").focus()
    page.keyboard.press("/")
    page.keyboard.type("api-1")
    page.keyboard.press("Enter")
    expect(page.locator(".drawer")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator(TIP)).to_be_hidden()


def test_a_tap_opens_and_closes_the_meaning_in_the_language_of_the_page(
    browser: Browser, signed_in: BrowserContext, server: Server
) -> None:
    with browser.new_context(
        storage_state=signed_in.storage_state(), has_touch=True, locale="zh-CN", viewport={"width": 1280, "height": 800}
    ) as context:
        context.add_init_script("localStorage.removeItem('schedviz'); localStorage.setItem('schedviz.tour', 'done')")
        page = opened(context.new_page(), server)
        page.locator("[data-queue=backoffQ] h3 > span").first.tap()
        expect(page.locator(TIP)).to_contain_text("直到退避结束")
        # The tip covers the first stages.
        page.locator("[data-stage]").last.tap(position={"x": 2, "y": 2})
        expect(page.locator(TIP)).to_be_hidden()


def test_a_control_keeps_its_own_explanation(page: Page, server: Server) -> None:
    opened(page, server)
    page.get_by_role("button", name="Filter", exact=True).hover()
    page.locator("[data-queue=activeQ] h3 > span").first.hover()
    expect(page.locator(TIP)).to_have_attribute("data-glossary", "activeQ")
