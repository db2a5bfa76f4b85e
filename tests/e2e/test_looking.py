"""Read-only pages, on a phone and of a session shared for viewing, have no control that changes anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import until
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import figure, import_through, step_cycles

pytestmark = pytest.mark.browser

PATIENCE_MILLIS = 60_000


def expect_nothing_to_change(page: Page, server: Server, session: str, *, runs: bool = False) -> None:
    """Neither by the pointer nor by keys. `runs`: the page may run the scheduler."""
    expect(page.locator("[data-read-only]")).to_be_visible()
    for name in ("Actions…", "Share", "Breakpoints"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    expect(page.locator("[data-transport=step]")).to_be_enabled(enabled=runs)
    expect(page.locator("[data-latency]").first).to_have_attribute("aria-disabled", "true")

    before = server.rest(f"sessions/{session}/")
    for key in (*(() if runs else ("ArrowRight", "Space")), "n", "g", "x", "s", "b"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    page.get_by_role("dialog").get_by_role("combobox").fill("cordon")
    # The lesson about cordons is found.
    expect(page.locator("#found [data-entry]:not([data-entry^='lesson/'])")).to_have_count(0)
    page.keyboard.press("Escape")
    assert server.rest(f"sessions/{session}/") == before


@pytest.fixture
def stepped(page: Page, server: Server, file: Path) -> str:
    """A session in which three cycles ran."""
    session = import_through(page, server, file)
    step_cycles(page, 3)
    page.goto("about:blank")
    return session


def test_a_phone_can_step_and_has_no_control_that_changes_a_session_otherwise(
    browser: Browser, signed_in: BrowserContext, server: Server, stepped: str
):
    with browser.new_context(storage_state=signed_in.storage_state(), viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.goto(f"{server.url}/s/{stepped}/")
        page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
        for name in ("Fork", "Import…"):
            expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
        expect_nothing_to_change(page, server, stepped, runs=True)
        expect(page.locator("[data-read-only]")).to_have_text("view only")
        page.locator("[data-read-only]").click()
        expect(page.get_by_text("Phones can play and step. Use a larger screen to make other changes.")).to_be_visible()
        event = server.rest(f"sessions/{stepped}/")["event"]
        page.locator("[data-transport=step]").click()
        until(lambda: server.rest(f"sessions/{stepped}/")["event"] > event)

        page.keyboard.press("ArrowLeft")
        expect(page.locator("[data-waiting]")).to_be_visible()
        seen = figure(page, "data-event")
        page.keyboard.press("ArrowRight")
        expect(page.locator("[data-event]").first).not_to_have_attribute("data-event", str(seen))


def test_a_session_shared_for_viewing_is_read_only(browser: Browser, server: Server, stepped: str):
    link = server.rest(f"sessions/{stepped}/links/", {"role": "viewer"})
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        page.goto(link["url"])
        page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
        expect_nothing_to_change(page, server, stepped)
