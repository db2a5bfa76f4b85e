"""Experiments on the page: a plan is run, its table is sorted and compared with another baseline, and a trial opens as a session."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_doing import write
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser

PLAN = """\
experiment: 1
name: sizes
question: How few nodes hold the pods?
base: {generate: {shape: basic, nodes: 6, pods: 40}}
variants: [{name: six}, {name: two, nodes: {count: 2}}]
seeds: 2
"""


def test_every_example_is_a_valid_plan(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/experiments/")
    cards = page.locator("[data-example]")
    expect(cards).to_have_count(4, timeout=PATIENCE_MILLIS)
    for card in cards.all():
        question = card.locator("strong").inner_text()
        card.locator("[data-show-plan]").click()
        text = "\n".join(page.locator(".cm-line").all_inner_texts())
        experiment = server.rest("experiments/", {"plan": text, "hold": True})["id"]
        page.goto(f"{server.url}/experiments/{experiment}/")
        expect(page.get_by_role("heading", name=question)).to_be_visible(timeout=PATIENCE_MILLIS)
        expect(page.get_by_text("the plan is valid")).to_be_visible(timeout=PATIENCE_MILLIS)
        expect(page.get_by_text("experiment: 1")).to_be_visible()
        page.go_back()


def test_the_card_of_an_experiment_runs_it(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/experiments/")
    expect(page.locator("[data-plan] .editor")).to_be_hidden(timeout=PATIENCE_MILLIS)
    page.locator("[data-example=fit] [data-run-example]").click()
    page.wait_for_url("**/experiments/*/", timeout=PATIENCE_MILLIS)
    expect(page.get_by_role("heading", name="How many more pods fit?")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_session_is_the_base_of_an_experiment(page: Page, server: Server) -> None:
    session = server.rest("sessions/", {"generate": {"shape": "basic", "nodes": 3, "pods": 6}})["id"]
    page.goto(f"{server.url}/s/{session}/")
    page.locator("[data-menu=learn]").click(timeout=PATIENCE_MILLIS)
    page.locator("[data-more=experiment]").click()
    page.wait_for_url(f"**/experiments/?session={session}&nodes=3")
    page.locator("[data-example=packing] [data-show-plan]").click(timeout=PATIENCE_MILLIS)
    expect(page.get_by_text(f"base: {{session: {session}}}")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.locator("[data-example=nodes] [data-show-plan]").click()
    expect(page.get_by_text("2 of 3 nodes")).to_be_visible()


def test_a_plan_is_run_compared_and_opened(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/experiments/")
    form = page.locator("form [data-plan]")
    form.locator("summary").click(timeout=PATIENCE_MILLIS)
    write(form, PLAN.replace("count: 2", "count: two"))
    form.get_by_role("button", name="Run").click(timeout=PATIENCE_MILLIS)
    expect(page.get_by_role("alert")).to_contain_text("line 5: variants[1].nodes.count: expected a whole number", timeout=PATIENCE_MILLIS)

    expect(page.locator(".cm-lintRange-error").first).to_be_visible()
    write(form, PLAN)
    expect(form.get_by_role("button", name="Run")).to_be_in_viewport()
    page.get_by_role("button", name="Check").click()
    page.wait_for_url("**/experiments/*/", timeout=PATIENCE_MILLIS)
    expect(page.get_by_text("4 trials of about")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("4 of 4 trials")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.get_by_text("How few nodes hold the pods?", exact=True)).to_be_visible()
    expect(page.locator("[data-generated]")).to_have_text("a generated cluster, not yours.")
    expect(page.get_by_role("heading", name="Keep six: two uses 4 fewer nodes, but places")).to_be_visible()
    table = page.get_by_role("region", name="Configurations")
    rows = table.locator("tbody th[scope=row]")
    expect(rows).to_contain_text(["six", "two"])

    table.get_by_role("button", name="nodes used", exact=True).click()
    expect(rows).to_contain_text(["two", "six"])
    table.get_by_role("button", name="Use as baseline").click()
    expect(table.get_by_text("+4 ± 0", exact=True).first).to_be_visible()
    expect(page.get_by_text("the Pareto front (")).to_be_visible()
    expect(page.get_by_role("figure", name="Nodes at the end")).to_be_visible()


def test_variants_are_added_to_a_finished_experiment(page: Page, server: Server) -> None:
    experiment = server.rest("experiments/", {"plan": PLAN})["id"]
    page.goto(f"{server.url}/experiments/{experiment}/")
    expect(page.get_by_text("4 of 4 trials")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.get_by_role("button", name="Add configurations").click(timeout=PATIENCE_MILLIS)
    write(page.locator("form"), PLAN.replace("count: 2}}]", "count: 2}}, {name: three, nodes: {count: 3}}]"))
    page.get_by_role("button", name="Run the new trials").click()
    expect(page.get_by_text("6 of 6 trials")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.get_by_role("region", name="Configurations").locator("tbody th[scope=row]")).to_contain_text(["six", "two", "three"])


def test_trials_open_and_are_compared_where_they_part(page: Page, server: Server) -> None:
    experiment = server.rest("experiments/", {"plan": PLAN})["id"]
    page.goto(f"{server.url}/experiments/{experiment}/")
    expect(page.get_by_text("4 of 4 trials")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.get_by_role("region", name="Configurations").get_by_role("button", name="two", exact=True).click()
    page.get_by_role("button", name="Add the baseline's trial").click()
    page.get_by_role("button", name="Compare at the first difference").click()
    page.wait_for_url("**/compare/?a=*", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-divergence]")).to_be_visible(timeout=PATIENCE_MILLIS)

    page.goto(f"{server.url}/experiments/{experiment}/")
    page.get_by_role("button", name="six").last.click(timeout=PATIENCE_MILLIS)
    page.get_by_role("button", name="Open as a session").click()
    page.wait_for_url("**/s/*/", timeout=PATIENCE_MILLIS)
