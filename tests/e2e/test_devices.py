"""The devices of a session on its page: counted, searched, followed to pods, and created."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


@pytest.fixture
def session(page: Page, server: Server) -> str:
    """Four nodes with partitioned GPUs, all pods tried."""
    generated = {"shape": "devices", "nodes": 4, "pods": 16, "partitions": True}
    made = str(server.rest("sessions/", {"generate": generated, "release": "v1.36"})["id"])
    page.goto(f"{server.url}/s/{made}/")
    expect(page.locator("[data-transport=step]")).to_be_visible(timeout=PATIENCE_MILLIS)
    server.rest(f"sessions/{made}/commands/", {"key": "run", "op": "run"})
    return made


def test_devices_are_counted_searched_and_followed_to_their_pods(page: Page, server: Server, session: str) -> None:
    page.keyboard.press("Shift+G")

    expect(page.locator("[data-pool]")).to_have_count(4, timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-device-counts] [data-state=allocated] b")).not_to_have_text("0", timeout=PATIENCE_MILLIS)
    counts = server.rest(f"sessions/{session}/devices/")["devices"]
    expect(page.locator("[data-device-counts] [data-state=free] b")).to_have_text(f"{counts['free']:,}", timeout=PATIENCE_MILLIS)

    page.fill("[data-device-search]", "node-2 allocated")
    expect(page.locator("[data-pool]")).to_have_count(1)
    page.locator("[data-pool=node-2] button[data-kind=node]").click()
    page.locator(".sheet .close").click()
    page.locator(".drawer [data-tab=devices]").click()
    taken = page.locator(".drawer [data-device][data-state=allocated]").first
    expect(taken).to_be_visible(timeout=PATIENCE_MILLIS)

    taken.locator("button[data-kind=pod]").first.click()
    expect(page.locator(".drawer [data-claim]")).to_contain_text("node-2", timeout=PATIENCE_MILLIS)


def test_a_claim_is_created_and_edited_from_the_panel(page: Page, session: str) -> None:
    page.keyboard.press("Shift+G")
    page.locator(".sheet [data-tab=claims]").click(timeout=PATIENCE_MILLIS)
    page.locator("[data-new=resourceclaim]").click()

    expect(page.locator("[data-template]")).to_have_value("resourceclaim", timeout=PATIENCE_MILLIS)
    page.locator("[data-doing=object] button.main").click(timeout=PATIENCE_MILLIS)
    page.locator(".sheet .close").click()
    page.keyboard.press("Shift+G")
    page.locator(".sheet [data-tab=claims]").click(timeout=PATIENCE_MILLIS)
    page.fill("[data-device-search]", "default/gpu pending")
    expect(page.locator("[data-claim='default/gpu']")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.locator("[data-edit='default/gpu']").click()
    expect(page.locator("[data-doing=object]")).to_contain_text("gpu.example.com", timeout=PATIENCE_MILLIS)
