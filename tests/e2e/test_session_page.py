"""The page of a session shows the data of the REST API."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import until
from tests.e2e.cluster import dump
from tests.e2e.conftest import Server

pytestmark = pytest.mark.browser

PATIENCE_MILLIS = 60_000


def import_through(page: Page, server: Server, file: Path) -> str:
    """Give the page a file as a person does, wait for the picture; returns the id of the session."""
    page.goto(f"{server.url}/sessions/")
    page.set_input_files("[data-upload]", file)
    page.wait_for_url("**/s/*/?show=answer", timeout=PATIENCE_MILLIS)
    # Without the overview of pending pods, on which an import opens unless it has only one.
    address = page.url.partition("?")[0]
    page.goto(f"{address}?show=overview")
    page.get_by_role("dialog", name="Pending pods").wait_for(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
    show_internals(page)
    return address.rstrip("/").rsplit("/", 1)[-1]


def show_internals(page: Page) -> None:
    """Show what a first visit folds until it is asked for."""
    internals = page.locator("[data-internals]")
    page.locator("[data-internals], .page:not(.simple) .transport").first.wait_for(timeout=PATIENCE_MILLIS)
    if internals.count() and internals.get_attribute("aria-pressed") == "false":
        internals.click()
    page.locator(".transport").wait_for(timeout=PATIENCE_MILLIS)


def step_cycles(page: Page, count: int) -> None:
    """Press → and wait for the end of a cycle, `count` times."""
    # The page is mounted after its load event, when its script has arrived. Keys that are pressed before are lost.
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
    for number in range(1, count + 1):
        page.keyboard.press("ArrowRight")
        page.locator(f'[data-cycle="{number}"]:not([data-outcome=""])').wait_for(timeout=PATIENCE_MILLIS)


def show_as_tables(page: Page) -> None:
    page.get_by_role("radio", name="table").click()
    pop_order = page.get_by_role("radio", name="pop order")
    if pop_order.count():
        pop_order.click()


def cells(page: Page, column: str) -> list[str]:
    return page.locator(f'table[aria-label="Cache"] td[data-column="{column}"]').all_inner_texts()


def pods_in(page: Page, queue: str) -> list[str | None]:
    rows = page.locator(f'[data-queue="{queue}"] [data-pod]')
    return [row.get_attribute("data-pod") for row in rows.all()]


def figure(page: Page, name: str) -> int:
    return int(page.locator(f"[{name}]").first.get_attribute(name) or -1)


def test_ten_cycles_match_the_rest_api(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    show_as_tables(page)

    step_cycles(page, 10)
    expect(page.locator("[data-bindings]")).to_have_attribute("data-bindings", "0", timeout=PATIENCE_MILLIS)

    state = server.rest(f"sessions/{session}/state/")
    items: list[dict[str, Any]] = state["cache"]["list"]
    assert cells(page, "node") == [item["name"] for item in items], "headNode first, in the order of the links"
    assert cells(page, "generation") == [str(item["generation"]) for item in items]
    generations = state["snapshot"]["nodeGenerations"]
    assert cells(page, "snapshot") == [str(generations[item["name"]]) for item in items]
    assert [text.split(" / ")[0] for text in cells(page, "pods")] == [str(len(item["pods"])) for item in items]
    assumed = {entry["pod"] for entry in state["cache"]["podStates"].values() if entry["assumed"]}
    assert cells(page, "assumed") == [str(len(assumed & set(item["pods"]))) for item in items]
    assert figure(page, "data-snapshot-generation") == state["snapshot"]["generation"]
    assert pods_in(page, "activeQ") == [entry["pod"] for entry in state["queue"]["activeQ"]], "in the order of popping"
    assert pods_in(page, "backoffQ") == [entry["pod"] for entry in state["queue"]["backoffQ"]]
    assert sorted(map(str, pods_in(page, "unschedulablePods"))) == [entry["pod"] for entry in state["queue"]["unschedulable"]]

    cycle = server.rest(f"sessions/{session}/cycles/10/")
    assert page.locator("[data-cycle] [data-kind=pod]").get_attribute("title") == cycle["pod"]
    assert page.locator("[data-cycle]").get_attribute("data-outcome") == cycle["outcome"]
    assert figure(page, "data-feasible") == cycle["feasibleNodes"]
    if cycle["outcome"] == "scheduled" and cycle["totals"]:
        assert page.locator("[data-cycle] [data-kind=node]").get_attribute("title") == cycle["node"]
        assert figure(page, "data-total") == cycle["totals"][cycle["node"]]


def test_a_pod_that_fits_nowhere_is_explained_in_the_schedulers_words(page: Page, server: Server, tmp_path: Path):
    file = tmp_path / "giant.json"
    file.write_text(json.dumps(dump(pods=0)))
    session = import_through(page, server, file)

    step_cycles(page, 1)

    cycle = server.rest(f"sessions/{session}/cycles/1/")
    assert cycle["outcome"] == "unschedulable"
    # v1.27.1 ends its messages with two full stops; the page shows one.
    assert page.locator("[data-message]").inner_text() == cycle["message"].removesuffix(".")
    rejected = [int(row.get_attribute("data-nodes") or 0) for row in page.locator("[data-plugin][data-nodes]").all()]
    assert sum(rejected) + figure(page, "data-feasible") == 5, "the counts sum to the nodes"


def test_the_matrix_has_every_node_of_the_cycle(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    step_cycles(page, 2)

    page.get_by_role("button", name="All nodes").click()

    rows = page.locator('dialog [role=table][aria-label="Cycle 2: all nodes"] [data-node]')
    expect(rows).to_have_count(5, timeout=PATIENCE_MILLIS)
    cycle = server.rest(f"sessions/{session}/cycles/2/")
    totals = {row.get_attribute("data-node"): row.locator(".total").inner_text() for row in rows.all() if row.locator(".total").count()}
    feasible = {name: str(total) for name, total in (cycle["totals"] or {}).items()}
    assert {name: total for name, total in totals.items() if total} == feasible


def test_steps_by_mutation_move_the_view_and_not_the_engine(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    step_cycles(page, 1)
    shown = figure(page, "data-event")

    page.keyboard.press("1")
    page.keyboard.press("ArrowRight")
    until(lambda: figure(page, "data-event") == shown + 1)
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    until(lambda: figure(page, "data-event") > shown + 1)

    page.keyboard.press("End")
    until(lambda: figure(page, "data-event") == server.rest(f"sessions/{session}/")["event"])


def test_steps_by_stage_end_a_binding_with_its_confirmation(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    step_cycles(page, 1)
    page.keyboard.press("2")
    page.keyboard.press("Home")
    until(lambda: figure(page, "data-event") == 0)
    narration = page.locator("[data-narration]")
    confirmation = re.compile("^Binding of .*: the watch event confirms that it is bound to node-")

    for _ in range(40):
        if confirmation.search(narration.inner_text()):
            break
        before = figure(page, "data-event")
        page.keyboard.press("ArrowRight")
        until(lambda before=before: figure(page, "data-event") > before)

    expect(narration).to_have_text(confirmation)


def test_space_plays_and_pauses(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)

    page.keyboard.press("Space")
    page.locator('[data-cycle="3"]').wait_for(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Space")
    expect(page.locator("[data-status]")).not_to_have_attribute("data-status", "running", timeout=PATIENCE_MILLIS)

    until(lambda: figure(page, "data-event") == server.rest(f"sessions/{session}/")["event"])


def test_a_reload_shows_the_same_moment(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.get_by_role("radio", name="table").click()
    step_cycles(page, 3)
    before = cells(page, "node"), cells(page, "generation"), figure(page, "data-event")

    page.reload()
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)

    assert (cells(page, "node"), cells(page, "generation"), figure(page, "data-event")) == before


def test_selecting_a_node_marks_it_and_opens_its_summary(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.get_by_role("radio", name="table").click()

    page.locator('tr[data-key="node-2"]').click()

    drawer = page.get_by_role("complementary")
    expect(drawer).to_contain_text("node-2")
    assert not is_covered(page, "cache"), "it lies beside the cache, where the node is marked"
    assert not is_covered(page, "cycle")
    expect(page.locator('tr[data-key="node-2"]')).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(1100, 760), (1280, 800), (1920, 1080)])
def test_the_drawer_of_a_pod_does_not_cover_the_cycle_that_explains_it(page: Page, server: Server, file: Path, width: int, height: int):
    page.set_viewport_size({"width": width, "height": height})
    import_through(page, server, file)
    step_cycles(page, 1)

    page.locator("[data-cycle] .pod [data-kind=pod]").click()

    expect(page.get_by_role("complementary")).to_be_visible()
    assert not is_covered(page, "cycle")
    assert not is_covered(page, "queue")


def test_the_search_finds_terms_of_the_glossary_and_lessons(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("dialog", name="Search").get_by_role("combobox", name="Search").fill("assumed")

    term = page.locator('[data-entry="term/assumed pod"]')
    expect(term).to_contain_text("An assumed pod counts on the node that was selected for it", timeout=PATIENCE_MILLIS)
    expect(page.locator('[data-entry^="lesson/"]').first).to_contain_text("Assumed pods", timeout=PATIENCE_MILLIS)


def test_the_heading_of_the_cache_explains_what_assumed_means(page: Page, server: Server, file: Path):
    import_through(page, server, file)

    page.locator("[data-assumed] + [data-term]").hover(timeout=PATIENCE_MILLIS)

    expect(page.locator('[data-glossary="assumed pod"]')).to_be_visible(timeout=PATIENCE_MILLIS)


def test_escape_returns_the_focus_from_the_palette_and_the_drawer_to_where_it_was(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    step_cycles(page, 1)
    field = page.locator("[data-node-filter]")
    field.focus()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_be_focused()

    pod = page.locator("[data-cycle] .pod [data-kind=pod]")
    pod.focus()
    page.keyboard.press("/")
    page.get_by_role("dialog").get_by_role("combobox").fill("node-2")
    page.keyboard.press("Enter")
    drawer = page.get_by_role("complementary")
    expect(drawer).to_be_focused()
    drawer.get_by_role("button").first.focus()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(pod).to_be_focused()


def test_the_scores_are_shown_at_their_stages_before_the_cycle_has_ended(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    step_cycles(page, 1)
    page.get_by_role("radio", name="stage", exact=True).click()
    rail = page.locator("[data-stage=Score]")
    while not page.locator("[data-stage=NormalizeScore][data-reached=next]").count():
        event = figure(page, "data-event")
        page.keyboard.press("ArrowRight")
        until(lambda event=event: figure(page, "data-event") > event)
    expect(rail.locator("[data-raw-scores] tbody tr").first).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(rail.locator("[data-total]")).to_have_count(0)

    page.keyboard.press("ArrowRight")
    expect(rail.locator("[data-total]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-cycle]").first).to_have_attribute("data-outcome", "")


def is_covered(page: Page, pane: str) -> bool:
    """Whether the drawer overlaps a pane."""
    drawer, area = page.get_by_role("complementary").bounding_box(), page.locator(f"section[aria-labelledby={pane}-title]").bounding_box()
    assert drawer
    assert area
    return drawer["x"] + 1 < area["x"] + area["width"] and area["x"] + 1 < drawer["x"] + drawer["width"]


def test_a_file_that_is_not_a_cluster_shows_the_error_of_the_server(page: Page, server: Server, tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c",')
    page.goto(f"{server.url}/sessions/")
    page.set_input_files("[data-upload]", broken)

    page.wait_for_url("**/s/*/?show=answer", timeout=PATIENCE_MILLIS)
    problem = page.locator("main [role=alert]")
    problem.wait_for(timeout=PATIENCE_MILLIS)

    session = page.url.partition("?")[0].rstrip("/").rsplit("/", 1)[-1]
    assert problem.inner_text() == server.rest(f"sessions/{session}/")["message"]
