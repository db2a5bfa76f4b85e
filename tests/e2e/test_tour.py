"""Each browser shows a tour of the session page once. The narration describes each step."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_scope import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


@pytest.fixture
def newcomer(browser: Browser, signed_in: object, server: Server) -> Page:
    """A page of a browser that has not shown the tour."""
    context = browser.new_context(storage_state=signed_in.storage_state(), viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(f"{server.url}/sessions/")
    page.evaluate("localStorage.removeItem('schedviz.tour')")
    page.locator("[data-try=lesson]").click()
    page.wait_for_url("**/s/*/", timeout=PATIENCE_MILLIS)
    return page


def test_the_tour_marks_each_panel_and_is_shown_once(newcomer: Page) -> None:
    for panel in ("queue", "cycle", "cache", "transport"):
        expect(newcomer.locator(f"[data-tour={panel}]")).to_be_visible(timeout=PATIENCE_MILLIS)
        if panel != "transport":
            expect(newcomer.locator(f".loop[data-changed={panel}][data-spotlight={panel}]")).to_be_visible()
        else:
            expect(newcomer.locator(".shows-transport .transport")).to_be_visible()
        if panel == "cycle":
            expect(newcomer.locator("[data-cycle='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
        if panel == "cache":
            expect(newcomer.locator("[data-assumed='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
            expect(newcomer.locator("[data-tour]")).to_contain_text("is assumed on node-")
        newcomer.locator("[data-tour-next]").click()
    expect(newcomer.locator("[data-tour]")).to_have_count(0)
    expect(newcomer.locator("[data-waiting]")).to_have_count(0)

    newcomer.reload()
    expect(newcomer.locator("[data-narration]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-tour]")).to_have_count(0)


def test_the_tour_can_be_skipped_and_the_narration_follows_each_step(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    narration = newcomer.locator("[data-narration]")
    expect(narration).to_have_text("Nothing has been scheduled yet")

    newcomer.keyboard.press("ArrowRight")
    expect(narration).to_contain_text("Cycle 1 · ", timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("1")
    newcomer.keyboard.press("ArrowRight")
    expect(narration).to_contain_text("is popped from activeQ", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator(".loop[data-changed=queue]")).to_be_visible()


def test_the_end_of_a_run_says_what_to_do_next_also_after_a_reload(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    ending = newcomer.locator("[data-ending]")
    expect(ending).to_contain_text("Done: 8 pods placed, 4 waiting.", timeout=PATIENCE_MILLIS)

    newcomer.reload()
    expect(ending).to_contain_text("4 waiting", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-ending-lesson]")).to_be_visible()
    newcomer.locator("[data-ending-why]").click()
    expect(newcomer.locator("[data-overview]")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_after_a_node_is_added_at_the_end_the_clock_leads_on(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    newcomer.locator("[data-ending-node]").click(timeout=PATIENCE_MILLIS)
    newcomer.get_by_role("button", name="Create", exact=True).click(timeout=PATIENCE_MILLIS)
    advance = newcomer.locator("[data-ending-backoff]")
    expect(advance).to_contain_text("to the end of the backoff", timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("Escape")
    newcomer.keyboard.press("ArrowRight")
    expect(newcomer.locator("[data-narration]")).to_contain_text("2 pods wait for their backoff", timeout=PATIENCE_MILLIS)
    expect(advance).to_be_in_viewport(ratio=1)

    advance.click()
    expect(newcomer.locator("[data-ending]")).to_have_count(0, timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("Space")
    ending = newcomer.locator("[data-ending]")
    expect(ending).to_contain_text("9 pods placed, 3 waiting", timeout=PATIENCE_MILLIS)


def test_a_failed_cycle_begins_with_the_sentence_of_why(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    expect(newcomer.locator("[data-plain-reason-of]")).to_have_text(
        "the pod requests 12Gi memory; the largest node has 8Gi in total", timeout=PATIENCE_MILLIS
    )
    expect(newcomer.locator("[data-message]")).to_contain_text("0/4 nodes are available")
