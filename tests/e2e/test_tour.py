"""Each browser shows a tour of the session page once. The narration describes each step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import until
from tests.e2e.conftest import FORGET_PREFERENCES, Server
from tests.e2e.test_accessibility import generated
from tests.e2e.test_session_page import PATIENCE_MILLIS, figure

pytestmark = pytest.mark.browser


@pytest.fixture
def newcomer(browser: Browser, signed_in: object, server: Server) -> Page:
    """A page of a browser that has not shown the tour."""
    context = browser.new_context(storage_state=signed_in.storage_state(), viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(f"{server.url}/sessions/")
    page.evaluate("localStorage.removeItem('schedviz.tour')")
    page.evaluate(FORGET_PREFERENCES)
    page.locator("[data-try=lesson]").click()
    page.wait_for_url("**/s/*/", timeout=PATIENCE_MILLIS)
    return page


@contextmanager
def phone_page(browser: Browser, signed_in: BrowserContext) -> Iterator[Page]:
    """A blank page on a phone."""
    with browser.new_context(
        storage_state=signed_in.storage_state(),
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    ) as context:
        yield context.new_page()


def test_the_tour_marks_each_panel_and_is_shown_once(newcomer: Page) -> None:
    for panel in ("queue", "cycle", "cache", "transport"):
        expect(newcomer.locator(f"[data-tour={panel}]")).to_be_visible(timeout=PATIENCE_MILLIS)
        if panel != "transport":
            expect(newcomer.locator(f".panels[data-changed={panel}][data-spotlight={panel}]")).to_be_visible()
        else:
            expect(newcomer.locator(".shows-transport .transport")).to_be_visible()
        if panel == "cycle":
            expect(newcomer.locator("[data-cycle='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
        if panel == "cache":
            expect(newcomer.locator("[data-assumed='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
            expect(newcomer.locator("[data-tour]")).to_contain_text("the cache already counts")
        newcomer.locator("[data-tour-next]").click()
    expect(newcomer.locator("[data-tour]")).to_have_count(0)
    expect(newcomer.locator("[data-waiting]")).to_have_count(0)

    newcomer.reload()
    expect(newcomer.locator("[data-narration]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-tour]")).to_have_count(0)


@pytest.mark.parametrize("panel", ["queue", "cache"])
def test_a_step_ends_the_tour_and_the_narration_says_what_happened(newcomer: Page, panel: str) -> None:
    expect(newcomer.locator("[data-tour=queue]")).to_be_visible(timeout=PATIENCE_MILLIS)
    if panel == "cache":
        newcomer.locator("[data-tour-next]").click()
        expect(newcomer.locator("[data-cycle='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
        newcomer.locator("[data-tour-next]").click()
        expect(newcomer.locator("[data-assumed='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("ArrowRight")
    expect(newcomer.locator("[data-narration]")).to_contain_text("Cycle 1 · ", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-tour]")).to_have_count(0)
    newcomer.keyboard.press("ArrowRight")
    expect(newcomer.locator("[data-narration]")).to_contain_text("Cycle 2 · ", timeout=PATIENCE_MILLIS)


def test_each_of_the_first_stages_has_its_own_sentence(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("2")
    narration = newcomer.locator("[data-narration]")
    said = [narration.inner_text()]
    for _ in range(6):
        event = figure(newcomer, "data-event")
        newcomer.keyboard.press("ArrowRight")
        until(lambda event=event: figure(newcomer, "data-event") > event)  # type: ignore[misc]
        expect(narration).not_to_have_text(said[-1])
        said.append(narration.inner_text())
    assert len(set(said)) == len(said)


def test_play_ends_the_tour_and_a_finished_session_begins_without_it(newcomer: Page) -> None:
    expect(newcomer.locator("[data-tour=queue]")).to_be_visible(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    ending = newcomer.locator("[data-ending]")
    expect(ending).to_contain_text("Done: 8 of 12 pods are scheduled; 4 are still pending.", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-tour]")).to_have_count(0)

    newcomer.evaluate("localStorage.removeItem('schedviz.tour')")
    newcomer.reload()
    expect(ending).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-tour]")).to_have_count(0)


def test_a_phone_shows_the_same_tour_with_each_panel_in_view(browser: Browser, signed_in: BrowserContext, server: Server) -> None:
    with phone_page(browser, signed_in) as page:
        page.goto(server.url)
        page.evaluate("localStorage.removeItem('schedviz.tour')")
        page.goto(f"{server.url}/s/{generated(server, 'demo', 4, 12)}/")
        expect(page.locator("[data-tour=queue]")).to_be_in_viewport(timeout=PATIENCE_MILLIS)
        expect(page.locator("#queue-title")).to_be_in_viewport()
        assert page.evaluate("scrollY") == 0
        for panel in ("queue", "cycle", "cache"):
            expect(page.locator(f"[data-tour={panel}]")).to_be_in_viewport(timeout=PATIENCE_MILLIS)
            expect(page.locator(f"#{panel}-title")).to_be_in_viewport()
            page.locator("[data-tour-next]").tap()
        expect(page.locator("[data-tour=transport]")).to_contain_text("These buttons")
        page.locator("[data-tour-next]").tap()
        expect(page.locator("[data-tour]")).to_have_count(0)


@pytest.fixture
def phone(browser: Browser, signed_in: BrowserContext, server: Server) -> Iterator[Page]:
    """The page of a small session on a phone, in the simple view, after the tour."""
    with phone_page(browser, signed_in) as page:
        page.goto(server.url)
        page.evaluate("localStorage.setItem('schedviz.tour', 'done')")
        page.evaluate(FORGET_PREFERENCES)
        page.goto(f"{server.url}/s/{generated(server, 'demo', 4, 12)}/")
        yield page


def test_a_step_on_a_phone_returns_to_the_cycle_and_the_end_to_what_to_do_next(phone: Page) -> None:
    step = phone.locator("[data-transport=step]")
    expect(phone.locator(".page:not(.stale) [data-cycle='8']")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(phone.locator("h1")).to_be_in_viewport()
    phone.locator("#cache-title").scroll_into_view_if_needed()
    step.tap()
    expect(phone.locator("[data-cycle='9'] .pod")).to_be_in_viewport(timeout=PATIENCE_MILLIS)

    phone.locator("#cache-title").scroll_into_view_if_needed()
    step.tap()
    expect(phone.locator("[data-ending-why]")).to_be_in_viewport(timeout=PATIENCE_MILLIS)
    phone.locator("#cache-title").scroll_into_view_if_needed()
    expect(phone.locator("[data-ending-why]")).to_be_in_viewport()


def test_a_narrow_screen_without_touch_names_no_keys_either(newcomer: Page) -> None:
    newcomer.set_viewport_size({"width": 390, "height": 844})
    for panel in ("queue", "cycle", "cache"):
        expect(newcomer.locator(f"[data-tour={panel}]")).to_be_visible(timeout=PATIENCE_MILLIS)
        newcomer.locator("[data-tour-next]").click()
    expect(newcomer.locator("[data-tour=transport]")).to_contain_text("These buttons")


def test_the_preview_of_a_cycle_divides_it_from_its_binding(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    preview = newcomer.locator("[role=region]").filter(has=newcomer.get_by_text("UpdateSnapshot"))
    expect(preview.locator("ol").first.locator("[data-label]").last).to_have_text("Permit", timeout=PATIENCE_MILLIS)
    expect(preview.locator("ol").last.locator("[data-label]")).to_have_text(["WaitOnPermit", "PreBind", "Bind", "Confirm"])


def test_the_binding_cycle_below_the_stages_moves_on_with_each_step(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("2")
    binding = newcomer.locator("[data-binding-of]")
    phases: list[str] = []
    while phases[-1:] != ["bound"]:
        event = figure(newcomer, "data-event")
        newcomer.keyboard.press("ArrowRight")
        until(lambda event=event: figure(newcomer, "data-event") > event)  # type: ignore[misc]
        phase = binding.get_attribute("data-phase") if binding.count() else None
        if phase and phase not in phases:
            phases.append(phase)
            if phase == "written":
                expect(binding.locator("[data-reached=next]")).to_have_text("Confirm")
    assert phases == ["assumed", "written", "bound"]


def test_the_score_table_of_a_first_visit_has_the_weights(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("ArrowRight")
    taints = newcomer.locator("[data-stage=Score] [data-plugin=TaintToleration]")
    expect(taints.locator("[data-weight]")).to_have_text("×3", timeout=PATIENCE_MILLIS)
    expect(taints.locator("td.bar").first).to_have_attribute("title", "300 of a possible 300")
    headings = newcomer.locator("[data-stage=Score] thead")
    for word in ("incl. weight", "lead"):
        expect(headings.get_by_text(word, exact=True)).to_be_visible()


def test_the_whole_score_table_is_visible_also_beside_a_drawer(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("ArrowRight")
    total = newcomer.locator("[data-stage=Score] [data-total]")
    until(lambda: total.count() == 1 and is_whole_in(newcomer, "[data-stage=Score] table", ".stage-list"))
    newcomer.locator("section[aria-labelledby=cycle-title] .heading a, section[aria-labelledby=cycle-title] .heading button").last.click()
    newcomer.locator(".drawer").wait_for(timeout=PATIENCE_MILLIS)
    until(lambda: is_whole_in(newcomer, "[data-stage=Score] table", ".stage-list"))


def is_whole_in(page: Page, inner: str, outer: str) -> bool:
    """Whether an element is not cut by the area that scrolls it."""
    part, area = page.locator(inner).bounding_box(), page.locator(outer).bounding_box()
    return bool(part and area and area["y"] <= part["y"] and part["y"] + part["height"] <= area["y"] + area["height"])


def test_a_first_visit_shows_pods_nodes_and_cycles_and_everything_on_request(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("ArrowRight")
    expect(newcomer.locator("[data-cycle='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-queue=nominated]")).to_have_count(0)
    internals = newcomer.locator("[data-generation], [data-strip] .flight, [data-bindings], [data-breakpoints]")
    for internal in internals.all():
        expect(internal).to_be_hidden()

    newcomer.locator("[data-internals]").click()
    expect(newcomer.locator("[data-generation]")).to_be_visible()
    expect(newcomer.locator("[data-queue=nominated]")).to_be_visible()
    newcomer.reload()
    expect(newcomer.locator("[data-generation]")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_all_details_are_shown_in_the_session_in_which_they_were_chosen(newcomer: Page, server: Server) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator("[data-internals]").click()
    expect(newcomer.locator("[data-internals]")).to_have_attribute("aria-pressed", "true")
    expect(newcomer.locator(".notices p")).to_have_count(0)

    newcomer.goto(server.url)
    newcomer.locator("[data-try=large]").click(timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-internals]")).to_have_attribute("aria-pressed", "false", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-large-cluster]")).to_contain_text("A cycle does not evaluate all 1,500 nodes")


def test_the_queue_counts_gated_pods_as_the_header_does(newcomer: Page) -> None:
    expect(newcomer.locator("[data-pending-pods]")).to_have_text("10 pending", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("section[aria-labelledby=queue-title]")).to_contain_text("10 pods, 1 of them gated")


def test_the_tour_can_be_skipped_and_the_narration_follows_each_step(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    narration = newcomer.locator("[data-narration]")
    expect(narration).to_have_text("No pod has been scheduled yet")

    newcomer.keyboard.press("ArrowRight")
    expect(narration).to_contain_text("Cycle 1 · ", timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("1")
    newcomer.keyboard.press("ArrowRight")
    expect(narration).to_contain_text("is popped from activeQ", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator(".panels[data-changed=queue]")).to_be_visible()


def test_the_end_of_a_run_says_what_to_do_next_also_after_a_reload(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    ending = newcomer.locator("[data-ending]")
    expect(ending).to_contain_text("Done: 8 of 12 pods are scheduled; 4 are still pending.", timeout=PATIENCE_MILLIS)

    newcomer.reload()
    expect(ending).to_contain_text("4 are still pending", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-ending-lesson]")).to_be_visible()
    newcomer.locator("[data-ending-why]").click()
    expect(newcomer.locator("[data-overview]")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_after_a_node_is_added_at_the_end_a_step_ends_the_backoff(newcomer: Page, server: Server) -> None:
    # v1.36 pops pods from backoffQ before their backoff has ended.
    cluster = {"shape": "demo", "nodes": 4, "pods": 12, "zones": 2}
    session = server.rest("sessions/", {"generate": cluster, "release": "v1.27.1"}, wait=10)["id"]
    newcomer.goto(f"{server.url}/s/{session}/")
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    ending = newcomer.locator("[data-ending]")
    expect(ending).to_be_visible(timeout=PATIENCE_MILLIS)
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    node = {"kind": "Node", "metadata": {"name": "large"}, "status": {"allocatable": amounts}}
    server.rest(f"sessions/{session}/commands/", {"op": "create", "object": node}, wait=10)
    expect(newcomer.locator("[data-ending-backoff]")).to_contain_text("to the end of the backoff", timeout=PATIENCE_MILLIS)

    newcomer.keyboard.press("ArrowRight")
    narration = newcomer.locator("[data-narration]")
    expect(narration).to_have_text("Backoffs have ended: 2 pods are in activeQ again, and batch-2 is next", timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("Space")
    expect(ending).to_contain_text("9 of 12 pods are scheduled; 3 are still pending", timeout=PATIENCE_MILLIS)


def test_one_click_at_the_end_adds_a_node_that_fits_and_places_the_pods(newcomer: Page, server: Server) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    newcomer.locator("[data-ending-node]").click(timeout=PATIENCE_MILLIS)

    added = newcomer.get_by_text(
        "Added node added-1 (10 CPU, 17Gi memory, disk=nvme): enough for the 3 pending pods. web-4 is still gated."
    )
    expect(added).to_be_visible(timeout=PATIENCE_MILLIS)
    notice, panels, controls = [newcomer.locator(part).bounding_box() for part in (".notices", ".panels", ".transport")]
    assert notice
    assert panels
    assert controls
    assert panels["y"] + panels["height"] <= notice["y"], "it covers no panel, and nothing above the panels"
    assert notice["y"] + notice["height"] <= controls["y"]
    expect(newcomer.locator("[data-ending]")).to_contain_text("11 of 12 pods are scheduled; 1 is still pending", timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-ending-node]")).to_have_count(0)

    newcomer.reload()
    newcomer.locator("[data-ending-compare]").click(timeout=PATIENCE_MILLIS)
    why = "B has one more node, added-1. batch-2, batch-3, and cache-2 are scheduled there."
    expect(newcomer.locator("[data-divergence]")).to_contain_text(why, timeout=PATIENCE_MILLIS)
    gated = newcomer.locator("[data-reason]", has_text="gated by a PreEnqueue plugin")
    expect(gated.locator("[data-sentence]")).to_contain_text("scheduling gate", timeout=PATIENCE_MILLIS)

    session = newcomer.url.split("b=")[1].split("&")[0]
    newcomer.goto(f"{server.url}/compare/?a={session}")
    newcomer.get_by_role("button", name="Node added-1 created").click(timeout=PATIENCE_MILLIS)
    expect(newcomer.locator("[data-divergence]")).to_contain_text(why, timeout=PATIENCE_MILLIS)


def test_at_the_end_of_the_queue_the_next_retry_is_one_click_away(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    expect(newcomer.locator("[data-ending]")).to_be_visible(timeout=PATIENCE_MILLIS)
    newcomer.keyboard.press("ArrowRight")
    expect(newcomer.locator("[data-command-result]")).to_contain_text("Next: pending pods are retried in ", timeout=PATIENCE_MILLIS)

    newcomer.locator("[data-next-timer]").click()
    expect(newcomer.locator("[data-queue=activeQ] h3")).to_have_text(re.compile(r"^activeQ\s*[1-9]"), timeout=PATIENCE_MILLIS)


def test_a_failed_cycle_begins_with_the_sentence_of_the_why_panel(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    expect(newcomer.locator("[data-plain-reason-of]")).to_contain_text(
        "The pod requests 12Gi of memory, but the largest node has only 8Gi", timeout=PATIENCE_MILLIS
    )
    expect(newcomer.locator("[data-message]")).to_contain_text("0/4 nodes are available")


def test_a_failed_cycle_says_that_no_node_fits_if_its_reason_is_unavailable(newcomer: Page) -> None:
    newcomer.locator("[data-tour-skip]").click(timeout=PATIENCE_MILLIS)
    newcomer.route("**/explain/**", lambda route: route.abort())
    newcomer.locator(".speed select").select_option("null")
    newcomer.keyboard.press("Space")
    expect(newcomer.locator("[data-ending]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(newcomer.get_by_text("The pod fits on none of the 4 nodes")).to_be_visible(timeout=PATIENCE_MILLIS)
