"""Tests of `make pictures`: it finds faults that are injected into the page's stylesheet, and nothing without a fault.

Not part of `make test`, like the pictures: `.venv/bin/python -m pytest tests/pictures/faults.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import import_through, step_cycles
from tests.pictures.comparing import PictureComparer
from tests.pictures.still import STYLE, picture_of

pytest_plugins = ("tests.e2e.conftest",)
pytestmark = pytest.mark.browser

FAULTS: Final = {
    "a pane that is hidden": "section[aria-labelledby=queue-title] { visibility: hidden !important }",
    "a button that is missing": "[data-fork] { visibility: hidden !important }",
    "a sign that is missing": "[data-outcome] svg { visibility: hidden !important }",
    "a colour of another meaning": "html:root:root { --assumed: #45b8d8 !important }",
    "a text that runs over": "header h1 { font-size: 22px !important }",
    "a pane that has moved": "section[aria-labelledby=cycle-title] { padding-top: 3px !important }",
}


@pytest.fixture
def still(browser: Browser, signed_in: BrowserContext, server: Server, file: Path) -> Iterator[Page]:
    """A session's page with assumed pods, whose watch events have not arrived."""
    with browser.new_context(
        storage_state=signed_in.storage_state(), viewport={"width": 1280, "height": 800}, reduced_motion="reduce", locale="en"
    ) as context:
        page = context.new_page()
        session = import_through(page, server, file)
        server.rest(f"sessions/{session}/commands/", {"key": f"slow-{session}", "op": "latency", "kind": "Pod", "seconds": 60})
        step_cycles(page, 3)
        expect(page.locator("[data-assumed]").first).not_to_have_attribute("data-assumed", "0")
        yield page


def picture_with(page: Page, rules: str) -> bytes:
    """A picture of the reloaded page with additional CSS rules."""

    def styled(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=f"{response.text()}\n{STYLE}{rules}")

    page.route("**/*.css", styled)
    page.reload()
    page.locator("[data-cycle='3']").wait_for(state="attached")
    picture = picture_of(page)
    page.unroute("**/*.css")
    return picture


def test_an_eye_sees_each_fault_of_a_page_and_none_where_there_is_none(browser: Browser, still: Page):
    with browser.new_context() as context:
        comparer = PictureComparer(context.new_page())
        reference = comparer.as_reference(picture_with(still, ""))
        assert comparer.look(picture_with(still, ""), reference).regions == []
        assert [name for name, rules in FAULTS.items() if comparer.look(picture_with(still, rules), reference).alike] == []
