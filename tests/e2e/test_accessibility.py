"""axe finds no serious violation on any page in either theme, and everything works with the keyboard."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import missing, until
from tests.e2e.conftest import EXPERT, Server

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "frontend/node_modules/axe-core/axe.min.js"
SERIOUS = {"serious", "critical"}


def complaints(page: Page) -> list[str]:
    """Serious violations that axe reports, with their first elements: of all rules in the dark theme, and of contrast in the light one, as
    a theme differs from the other in its colors only.
    """
    page.evaluate(AXE.read_text())
    found = _violations(page, {})
    in_dark = _ink(page)
    page.emulate_media(color_scheme="light")
    assert _ink(page) != in_dark
    found += _violations(page, {"runOnly": ["color-contrast"]})
    page.emulate_media(color_scheme="dark")
    return found


def _ink(page: Page) -> str:
    color: str = page.evaluate("getComputedStyle(document.body).color")
    return color


def _violations(page: Page, options: dict[str, Any]) -> list[str]:
    result: dict[str, Any] = page.evaluate("options => axe.run(document, {resultTypes: ['violations'], ...options})", options)
    return [
        f"{violation['id']}: {violation['help']}: {[node['html'][:160] for node in violation['nodes'][:3]]}"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
    ]


def generated(server: Server, shape: str, nodes: int, pods: int) -> str:
    """The id of a session of a generated cluster, after a few cycles."""
    token = (server.data / "token").read_text().strip()

    def post(path: str, body: object) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{server.url}/api/v1/{path}", headers=headers, data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    session: str = post("sessions/", {"generate": {"shape": shape, "nodes": nodes, "pods": pods}})["id"]
    until(lambda: server.rest(f"sessions/{session}/")["status"] != "importing", seconds=60)
    post(f"sessions/{session}/commands/", {"key": "some-cycles", "op": "run", "max": 8})
    until(lambda: server.rest(f"sessions/{session}/")["cycle"] == 8, seconds=60)
    return session


@pytest.fixture(scope="module")
def open_page(browser: Browser, signed_in: BrowserContext) -> Iterator[Page]:
    """A page into which axe can be injected."""
    if not AXE.exists():
        missing("axe-core", "Run `make setup`.")
    context = browser.new_context(
        bypass_csp=True,
        color_scheme="dark",
        reduced_motion="reduce",
        storage_state=signed_in.storage_state(),
        viewport={"width": 1280, "height": 800},
    )
    # Settings of other tests, such as the table view, must not affect these.
    context.add_init_script("localStorage.removeItem('schedviz')")
    context.add_init_script(EXPERT)
    yield context.new_page()
    context.close()


def test_the_sessions_page_has_no_serious_accessibility_violation(open_page: Page, server: Server):
    generated(server, "demo", 4, 12)
    open_page.goto(f"{server.url}/sessions/")
    open_page.locator("tr[data-session]").first.wait_for()
    assert complaints(open_page) == []


def test_the_start_page_has_no_serious_accessibility_violation(open_page: Page, server: Server):
    open_page.goto(server.url)
    open_page.locator("[data-open-case]").first.wait_for()
    assert complaints(open_page) == []

    open_page.locator("[data-paste-example]").click()
    open_page.locator("[data-paste-answer]").wait_for()
    assert complaints(open_page) == []


@pytest.mark.parametrize(("shape", "nodes", "pods"), [("demo", 4, 12), ("mixed", 1500, 3000)])
def test_the_session_page_has_no_serious_accessibility_violation(open_page: Page, server: Server, shape: str, nodes: int, pods: int):
    open_page.goto(f"{server.url}/s/{generated(server, shape, nodes, pods)}/")
    open_page.locator("[data-queue=activeQ]").wait_for()
    assert complaints(open_page) == []

    open_page.keyboard.press("c")
    open_page.locator("tr[data-key]").first.click()
    open_page.get_by_role("complementary").wait_for()
    assert complaints(open_page) == []
    open_page.keyboard.press("Escape")
    open_page.keyboard.press("c")

    for key in ("?", "/"):
        open_page.keyboard.press(key)
        open_page.get_by_role("dialog").wait_for()
        assert complaints(open_page) == []
        open_page.keyboard.press("Escape")
        expect(open_page.get_by_role("dialog")).to_have_count(0)


def test_panels_and_dialogs_have_no_serious_accessibility_violation(open_page: Page, server: Server):
    session = generated(server, "demo", 4, 12)
    open_page.goto(f"{server.url}/s/{session}/?select=pod:default/batch-2&tab=why")
    open_page.locator("[data-why-sentence]").wait_for(timeout=60_000)
    assert complaints(open_page) == []
    open_page.locator("[data-share-card]").click()
    open_page.locator("[data-card]").wait_for(timeout=60_000)
    assert complaints(open_page) == []
    open_page.keyboard.press("Escape")
    for tab in ("describe", "history", "yaml"):
        open_page.goto(f"{server.url}/s/{session}/?select=pod:default/batch-2&tab={tab}")
        open_page.locator("[data-described] [data-resource], [data-entry], [data-stored-object]").first.wait_for(timeout=60_000)
        assert complaints(open_page) == [], tab
    open_page.keyboard.press("Escape")
    open_page.locator("[data-times-toggle]").click()
    open_page.locator("[data-times]").first.wait_for(timeout=60_000)
    assert complaints(open_page) == []

    for key in ("n", "m", "x", "g", "w", "b", "e", "s"):
        open_page.keyboard.press(key)
        open_page.get_by_role("dialog").wait_for()
        open_page.wait_for_load_state("networkidle")
        assert complaints(open_page) == [], key
        open_page.keyboard.press("Escape")
        expect(open_page.get_by_role("dialog")).to_have_count(0)


def test_lessons_cases_documentation_comparisons_and_panels_have_no_serious_accessibility_violation(open_page: Page, server: Server):
    session = generated(server, "demo", 4, 12)
    plan = "experiment: 1\nbase: {generate: {shape: demo}}\nvariants: [{name: a}, {name: b, nodes: {count: 3}}]\nseeds: 2\n"
    experiment = server.rest("experiments/", {"plan": plan})["id"]
    for address, there in (
        ("/experiments/", "main table"),
        (f"/experiments/{experiment}/", "main svg[role=group]"),
        ("/lessons/", "[data-lesson]"),
        ("/cases/", "[data-open-case]"),
        ("/docs/glossary/", "main dl"),
        (f"/compare/?a={session}&b={session}", "main"),
        (f"/s/{session}/panel/loop/", "#cache-title"),
    ):
        open_page.goto(server.url + address)
        open_page.locator(there).first.wait_for(timeout=60_000)
        open_page.wait_for_load_state("networkidle")
        assert complaints(open_page) == [], address


def test_a_phone_layout_has_no_serious_accessibility_violation(open_page: Page, server: Server):
    open_page.set_viewport_size({"width": 390, "height": 844})
    open_page.goto(f"{server.url}/s/{generated(server, 'demo', 4, 12)}/")
    open_page.locator("[data-queue=activeQ]").wait_for(timeout=60_000)
    assert complaints(open_page) == []
    open_page.set_viewport_size({"width": 1280, "height": 800})


def test_the_login_page_has_no_serious_accessibility_violation(browser: Browser, server: Server):
    with browser.new_context(bypass_csp=True, color_scheme="dark") as context:
        page = context.new_page()
        page.goto(f"{server.url}/login/")
        assert complaints(page) == []


def test_a_node_is_found_and_selected_with_the_keyboard(page: Page, server: Server):
    page.goto(f"{server.url}/s/{generated(server, 'mixed', 50, 60)}/")
    page.locator("[data-queue=activeQ]").wait_for()

    page.keyboard.press("/")
    page.keyboard.type("node-17")
    expect(page.locator("#found").get_by_role("option").first).to_contain_text("node-17")
    page.keyboard.press("Enter")

    expect(page.get_by_role("complementary")).to_contain_text("node-17")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_a_hint_shows_until_the_first_step(page: Page, server: Server):
    page.goto(f"{server.url}/sessions/")
    page.locator("[data-try=lesson]").click()
    page.wait_for_url("**/s/*/")
    expect(page.locator("[data-hint]")).to_contain_text("Press → to schedule the next pod")

    page.keyboard.press("1")
    page.keyboard.press("ArrowRight")

    expect(page.locator("[data-happened]")).to_contain_text("is popped from activeQ")
    page.keyboard.press("End")
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-hint]")).to_have_count(0)
