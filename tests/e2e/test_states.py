"""The page in its empty, loading, stale, denied and truncated states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.e2e.cluster import pod
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, import_through, step_cycles

pytestmark = pytest.mark.browser

SOCKET = "**/ws/v1/sessions/**"


def test_an_empty_cluster_shows_what_to_do_first(page: Page, server: Server, tmp_path: Path):
    file = tmp_path / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod("web-1", "500m")]}))
    import_through(page, server, file)

    expect(page.get_by_text("No nodes yet. Use “Actions…” to create one.").first).to_be_visible()
    expect(page.locator("[data-hint]")).to_contain_text("web-1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-message]")).to_have_text("no nodes available to schedule pods", timeout=PATIENCE_MILLIS)


def test_a_page_without_a_connection_shows_that_it_connects(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    page.route_web_socket(SOCKET, lambda _: None)

    page.goto(f"{server.url}/s/{session}/")

    expect(page.locator("main.waiting")).to_be_visible()
    expect(page.locator("[data-queue=activeQ]")).to_have_count(0)


def test_a_disconnected_page_keeps_the_view_and_marks_it_as_stale_until_it_reconnects(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    lines: list[WebSocketRoute] = []
    broken = False

    def connect(line: WebSocketRoute) -> None:
        if broken:
            line.close(code=1001)
        else:
            line.connect_to_server()
            lines.append(line)

    page.route_web_socket(SOCKET, connect)
    page.goto(f"{server.url}/s/{session}/")
    step_cycles(page, 2)

    broken = True
    for line in lines:
        line.close(code=1001)
    expect(page.locator("[data-stale=waiting]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-cycle='2']")).to_be_visible()

    broken = False
    expect(page.locator("[data-stale]")).to_have_count(0, timeout=PATIENCE_MILLIS)
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-cycle='3']")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_viewer_that_loses_access_keeps_the_view_and_gets_a_message(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    lines: list[WebSocketRoute] = []

    def connect(line: WebSocketRoute) -> None:
        line.connect_to_server()
        lines.append(line)

    page.route_web_socket(SOCKET, connect)
    page.goto(f"{server.url}/s/{session}/")
    step_cycles(page, 1)

    lines[-1].close(code=4404)

    expect(page.locator("[data-stale=closed]")).to_contain_text("no longer shared with you", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-cycle='1']")).to_be_visible()


def test_a_private_session_looks_nonexistent_to_other_users(browser: Browser, page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    with browser.new_context() as context:
        stranger = context.new_page()
        stranger.goto(f"{server.url}/s/{session}/")
        assert "/login/" in stranger.url


def test_a_long_queue_shows_how_many_pods_are_hidden(page: Page, server: Server):
    session = server.rest("sessions/", {"generate": {"shape": "mixed", "nodes": 20, "pods": 3000}})["id"]
    page.goto(f"{server.url}/s/{session}/")
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
    if page.get_by_role("radio", name="heap").get_attribute("aria-checked") != "true":
        page.get_by_role("radio", name="heap").click()

    expect(page.locator("[data-queue=activeQ]")).to_contain_text("below", timeout=PATIENCE_MILLIS)
    page.get_by_role("radio", name="pop order").click()
    expect(page.locator("[data-queue=activeQ]")).to_contain_text("below")
    page.get_by_role("radio", name="heap").click()


def test_an_import_shows_its_progress_and_can_be_cancelled(page: Page, server: Server):
    session = server.rest("sessions/", {"generate": {"shape": "mixed", "nodes": 5000, "pods": 60000}})["id"]
    page.goto(f"{server.url}/s/{session}/")
    expect(page.get_by_role("progressbar", name="Importing")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url("**/sessions/", timeout=PATIENCE_MILLIS)
