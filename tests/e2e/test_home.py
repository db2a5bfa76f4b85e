"""The start page: what an on-call engineer does first, where a newcomer begins, and the newest sessions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


def test_a_login_link_leads_to_the_start_page(page: Page, server: Server) -> None:
    page.goto(server.login)

    assert page.url == f"{server.url}/"
    expect(page.get_by_role("heading", level=1)).to_have_text("Why is my pod pending?", timeout=PATIENCE_MILLIS)


def test_the_start_page_has_a_box_for_files_and_text_and_four_beginnings(page: Page, server: Server) -> None:
    page.goto(server.url)

    expect(page.locator("#paste-box")).to_be_in_viewport(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-choose-files]")).to_be_in_viewport()
    for beginning in ("[data-try=lesson]", "[data-try=large]", "main a[href='/lessons/']", "main a[href='/cases/']"):
        expect(page.locator(beginning).first).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/lessons/"])
def test_the_shortcut_of_the_theme_works_outside_of_sessions(page: Page, server: Server, path: str) -> None:
    page.goto(f"{server.url}{path}")
    expect(page.get_by_role("button", name="Toggle dark theme")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", re.compile("dark|light"))
    first = page.locator("html").get_attribute("data-theme")
    page.keyboard.press("t")

    expect(page.locator("html")).to_have_attribute("data-theme", "light" if first == "dark" else "dark")


def test_the_newest_sessions_are_opened_from_the_start_page(page: Page, server: Server) -> None:
    made = server.rest("sessions/", {"generate": {"shape": "demo", "nodes": 4, "pods": 12}, "name": "to continue"})
    page.goto(server.url)
    page.locator("[data-recent]").get_by_text("to continue").click(timeout=PATIENCE_MILLIS)

    page.wait_for_url(f"**/s/{made['id']}/", timeout=PATIENCE_MILLIS)


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_is_wider_than_the_screen(page: Page, server: Server, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    page.goto(server.url)
    page.locator("[data-open-case]").first.wait_for(timeout=PATIENCE_MILLIS)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_text_area_grows_with_the_example_so_that_all_of_it_is_visible(page: Page, server: Server) -> None:
    page.goto(server.url)
    page.locator("[data-paste-example]").click(timeout=PATIENCE_MILLIS)
    box = page.locator("#paste-box")
    expect(box).to_have_value(re.compile("untolerated taint"))

    assert box.evaluate("box => box.scrollHeight <= box.clientHeight")


def test_the_example_sessions_take_one_place_among_the_newest(page: Page, server: Server) -> None:
    for number in ("", " 2", " 3"):
        server.rest("sessions/", {"generate": {"shape": "demo", "nodes": 4, "pods": 12}, "name": f"Four nodes, step by step{number}"})
    page.goto(server.url)
    recent = page.locator("[data-recent]")
    expect(recent.get_by_text("Four nodes, step by step 3", exact=True)).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(recent.get_by_text(re.compile("Four nodes, step by step( 2)?$"))).to_have_count(0)
