"""The gallery of everyday cases: each opens on its explanation, and its fix places the pod. The header links to the documentation."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


def test_a_case_opens_on_its_answer_and_the_fix_places_the_pod(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/")
    page.locator("[data-open-case=spread-deadlock]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-why-main]")).to_contain_text(
        "the topology spread constraint allows the pod only in zone-c", timeout=PATIENCE_MILLIS
    )
    expect(page.locator("[data-case=spread-deadlock]")).to_contain_text("Add capacity in zone-c")

    session = page.url
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case=spread-deadlock]").click(timeout=PATIENCE_MILLIS)
    expect(page).to_have_url(session, timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-case-apply]")).to_have_text("Add a node in zone-c")
    page.locator("[data-case-apply]").click()
    expect(page.locator("[data-case-applied]")).to_contain_text("default/web-6 is now bound to node-c2", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-case-did]")).to_have_text("Add a node in zone-c")

    page.reload()
    page.locator("[data-case-again]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-case-apply]")).to_be_visible(timeout=PATIENCE_MILLIS)
    assert page.url.partition("?")[0] != session.partition("?")[0]


def test_a_card_names_the_resource_of_its_bars_and_the_plugins_of_its_symbols(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    keys = {
        name: page.locator(f"[data-open-case={name}] [data-case-key]")
        for name in ("too-many-pods", "volume-in-another-zone", "scheduling-gate")
    }
    expect(keys["too-many-pods"]).to_have_text("pods", timeout=PATIENCE_MILLIS)
    expect(keys["volume-in-another-zone"]).to_contain_text("VolumeBinding")
    expect(keys["scheduling-gate"]).to_contain_text("SchedulingGates")
    expect(page.locator("[data-legend] li")).to_have_count(5)


def test_a_pod_that_uses_a_host_port_is_named_before_another_node(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case=host-port-taken]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-suggestion='0']")).to_contain_text("Stop or move ingress/nginx-", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-suggestion='1']")).to_contain_text("Change or remove the host port 443")


def test_the_cycle_says_what_the_pod_requests_and_begins_with_the_headline_of_why(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case=gpu-pending]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-stage=Pop] [data-pod-requests]")).to_have_text("requests 4 cpu, 1 nvidia.com/gpu", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-why-main]")).to_contain_text("no node offers this resource", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-plain-reason-of]")).to_have_text(
        page.locator("[data-why-main]").inner_text(), ignore_case=True, timeout=PATIENCE_MILLIS
    )
    expect(page.locator("[data-timeline-axis]")).to_have_text("by event")
    page.locator("[data-tab=summary]").click()
    expect(page.locator("[data-plain-reason-of]")).to_contain_text("no node offers this resource", timeout=PATIENCE_MILLIS)


@pytest.mark.parametrize("case", ["volume-in-another-zone", "label-typo", "host-port-taken", "taint-forgotten"])
def test_the_cycle_and_why_say_the_same_about_a_pending_pod(page: Page, server: Server, case: str) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator(f"[data-open-case={case}]").click(timeout=PATIENCE_MILLIS)
    headline = page.locator("[data-why-sentence] p").first
    expect(headline).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-plain-reason-of]")).to_have_text(headline.inner_text(), ignore_case=True, timeout=PATIENCE_MILLIS)


def test_the_start_page_says_how_many_cases_there_are(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case]").first.wait_for(timeout=PATIENCE_MILLIS)
    count = page.locator("[data-open-case]").count()
    page.goto(f"{server.url}/")
    expect(page.get_by_role("link", name=f"All {count} cases and their fixes")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_fix_that_evicts_a_pod_says_which(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case=preemption-does-not-help]").click(timeout=PATIENCE_MILLIS)
    page.locator("[data-case-apply]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-case-gone]")).to_contain_text("removed to make room", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-case-gone]")).to_contain_text("batch/etl-")


def test_the_gallery_has_its_own_url_and_shows_the_fixes(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("[data-open-case]").first.wait_for(timeout=PATIENCE_MILLIS)
    assert page.locator("[data-open-case]").count() >= 10
    assert page.locator("[data-open-case] svg[role=img]").count() == page.locator("[data-open-case]").count()
    expect(page.get_by_text("Start the device plugin on the GPU node.")).to_be_visible()


@pytest.mark.parametrize("address", ["/", "/sessions/", "/cases/", "/lessons/", "/rooms/", "/docs/", "/compare/"])
def test_every_page_leads_to_lessons_documentation_and_glossary(page: Page, server: Server, address: str) -> None:
    page.goto(server.url + address)
    for target in ("/lessons/", "/docs/", "/docs/glossary/"):
        expect(page.locator(f"header a[href='{target}']").first).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_session_leads_there_from_a_menu_and_on_wide_screens_from_its_header(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/sessions/")
    page.locator("[data-try=lesson]").click()
    page.wait_for_url("**/s/*/", timeout=PATIENCE_MILLIS)
    page.locator("[data-menu=learn]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("li > a[href='/docs/glossary/']")).to_be_visible()
    for command in ("fork", "compare", "experiment"):
        expect(page.locator(f"[data-more={command}]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("[data-menu=learn]")).to_be_focused()
    page.set_viewport_size({"width": 2560, "height": 1080})
    expect(page.locator("header .links a[href='/docs/glossary/']")).to_be_visible()
