"""A placed pod says why it is on its node: the cycle that chose the node, or how else it came there. A node says what is free on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, import_through, step_cycles

pytestmark = pytest.mark.browser


def test_a_placed_pod_leads_to_the_cycle_that_chose_its_node(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 3)
    page.goto(f"{server.url}/s/{session}/?select=pod:default/web-1")

    placed = page.locator("[data-placed-sentence]")
    expect(placed).to_contain_text("in cycle 2: 5 of 5 nodes were feasible", timeout=PATIENCE_MILLIS)
    page.locator("[data-tab=why]").click()
    expect(placed).to_contain_text("in cycle 2", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-placed] [data-plugin=NodeResourcesFit]")).to_be_visible()

    page.locator("[data-placed-cycle]").click()
    expect(page.locator("[data-cycle='2']")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_pod_of_a_dump_that_ran_before_says_so(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    page.goto(f"{server.url}/s/{session}/?select=pod:default/old")
    expect(page.locator("[data-placed-sentence]")).to_have_text(
        "It was already on node-1 when the dump was taken, so no cycle of this session chose the node.", timeout=PATIENCE_MILLIS
    )


def test_the_summary_of_a_node_begins_with_what_is_free_and_has_its_labels(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    page.goto(f"{server.url}/s/{session}/?select=node:node-1")
    summary = page.get_by_role("complementary", name="Summary of node-1")
    expect(summary.locator("tbody").first).to_contain_text("7 of 8", timeout=PATIENCE_MILLIS)
    expect(summary.locator("[data-node-part='node.labels']")).to_contain_text("topology.kubernetes.io/zone=zone-1", timeout=PATIENCE_MILLIS)
    expect(summary.locator("[data-node-part='node.taints']")).to_have_text("none")
    expect(summary).to_contain_text("from headNode")
