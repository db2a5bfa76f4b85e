"""Members of a session are invited, become editors and are removed; the account menu."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, import_through

pytestmark = pytest.mark.browser

PASSWORD = "a-list-in-the-order-of-generations"


def make_account(page: Page, invite: str, name: str) -> None:
    page.goto(invite)
    page.locator("input[name=username]").fill(name)
    page.locator("input[name=password1]").fill(PASSWORD)
    page.locator("input[name=password2]").fill(PASSWORD)
    page.locator("main button").click()


def test_a_user_is_invited_becomes_an_editor_and_is_removed(page: Page, browser: Browser, server: Server, file: Path):
    session = import_through(page, server, file)
    page.keyboard.press("s")
    people = page.get_by_role("dialog", name="Share").locator("[data-members]")
    people.locator("summary").click()
    expect(people.locator("[data-member-role=owner]")).to_be_visible()
    people.locator("[data-make-invite]").get_by_label("Note").fill("Ada, of the platform team")
    people.get_by_role("button", name="Create an invite").click()
    expect(people.locator("[data-invite]")).to_contain_text("Ada, of the platform team")
    address = people.locator("[data-invite] input").input_value()

    with browser.new_context(viewport={"width": 1280, "height": 800}) as another:
        ada = another.new_page()
        make_account(ada, address, "ada")
        ada.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
        expect(ada.locator("[data-read-only]")).to_be_visible()

        people.locator("summary").click()
        people.locator("summary").click()
        member = people.locator("[data-member=ada]")
        expect(people.locator("[data-invite]")).to_have_count(0)
        member.get_by_role("combobox").select_option("editor")
        expect(people.locator("[data-member=ada][data-member-role=editor]")).to_be_visible()
        ada.reload()
        expect(ada.locator("[data-transport=step]")).to_be_enabled(timeout=PATIENCE_MILLIS)
        # Members cannot manage the other members.
        expect(ada.get_by_role("button", name="Share", exact=True)).to_have_count(0)

        member.get_by_role("button", name="Remove").click()
        expect(member).to_have_count(0)
        people.get_by_label("Username").fill("ada")
        people.get_by_role("button", name="Add", exact=True).click()
        expect(people.locator("[data-member=ada][data-member-role=viewer]")).to_be_visible()
        member.get_by_role("button", name="Remove").click()
        expect(member).to_have_count(0)
        assert ada.goto(f"{server.url}/s/{session}/").status == 404  # type: ignore[union-attr]

        people.get_by_label("Username").fill("ada")
        people.get_by_role("button", name="Add", exact=True).click()
        expect(people.locator("[data-member=ada]")).to_be_visible()
        ada.goto(f"{server.url}/sessions/")
        row = ada.locator(f"[data-session='{session}']")
        row.get_by_role("button", name="Leave").click()
        row.get_by_role("button", name="Leave session").click()
        expect(row).to_have_count(0)
        assert ada.goto(f"{server.url}/s/{session}/").status == 404  # type: ignore[union-attr]


def test_the_account_menu_links_to_the_users_pages(browser: Browser, server: Server):
    session = server.rest("sessions/", {"generate": {"shape": "demo"}})["id"]
    invite = server.rest(f"sessions/{session}/invites/", {})["url"]
    with browser.new_context(viewport={"width": 1280, "height": 800}) as another:
        grace = another.new_page()
        make_account(grace, invite, "grace")
        grace.wait_for_url(f"**/s/{session}/")
        grace.goto(f"{server.url}/lessons/")
        grace.locator("[data-menu=account]").click()
        expect(grace.get_by_role("link", name="Administration")).to_have_count(0)
        grace.get_by_role("link", name="Change your password").click()
        grace.wait_for_url("**/password/")

        with sqlite3.connect(server.data / "schedviz.sqlite3", timeout=30) as database:
            database.execute("UPDATE auth_user SET is_staff = 1 WHERE username = 'grace'")
        grace.goto(f"{server.url}/lessons/")
        grace.locator("[data-menu=account]").click()
        grace.get_by_role("link", name="Administration").click()
        grace.wait_for_url("**/admin/")

        grace.goto(f"{server.url}/lessons/")
        grace.locator("[data-menu=account]").click()
        grace.get_by_role("button", name="Sign out").click()
        grace.wait_for_url("**/login/")
