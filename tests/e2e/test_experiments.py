"""Experiments on the page: a plan is run, its table is sorted and compared with another baseline, and a trial opens as a session."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_scope import PATIENCE_MILLIS

pytestmark = pytest.mark.browser

PLAN = """\
experiment: 1
name: sizes
question: How few nodes hold the pods?
base: {generate: {shape: basic, nodes: 6, pods: 40}}
variants: [{name: six}, {name: two, nodes: {count: 2}}]
seeds: 2
"""


def test_a_plan_is_run_compared_and_opened(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/experiments/")
    page.locator("textarea").fill(PLAN.replace("count: 2", "count: two"))
    page.get_by_role("button", name="Run").click(timeout=PATIENCE_MILLIS)
    expect(page.get_by_role("alert")).to_contain_text("line 5: variants[1].nodes.count: expected a whole number", timeout=PATIENCE_MILLIS)

    page.locator("textarea").fill(PLAN)
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/experiments/*/", timeout=PATIENCE_MILLIS)
    expect(page.get_by_text("4 of 4 trials")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.get_by_text("How few nodes hold the pods?", exact=True)).to_be_visible()
    rows = page.locator("tbody tr th[scope=row]")
    expect(rows).to_contain_text(["six baseline", "two"])

    page.get_by_role("button", name="nodes used").click()
    expect(rows).to_contain_text(["two", "six baseline"])
    page.get_by_role("button", name="pin").click()
    expect(rows).to_contain_text(["two baseline", "six"])
    expect(page.get_by_text("+4 ± 0")).to_be_visible()
    expect(page.get_by_text("Pareto front (filled): ")).to_be_visible()

    page.locator("summary", has_text="Trials").click()
    page.get_by_role("button", name="Open").last.click()
    page.wait_for_url("**/s/*/", timeout=PATIENCE_MILLIS)
