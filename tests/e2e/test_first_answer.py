"""What is shown first of imported files: the only pending pod, several, or that none is; the doctor's findings; no tour. And a question before a fork."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import FORGET_PREFERENCES, Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


def node(name: str) -> dict[str, Any]:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def pod(name: str, on: str = "", claim: str = "", cpu: str = "") -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}
    if cpu:
        spec["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    if on:
        spec["nodeName"] = on
    if claim:
        spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    metadata = {"name": name, "namespace": "shop", "uid": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running" if on else "Pending"}}


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}},
}
CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "csi.example"}
EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "type": "Warning",
    "reason": "ProvisioningFailed",
    "message": "quota exceeded",
    "involvedObject": {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": "data"},
}


def drop(page: Page, server: Server, folder: Path, *objects: dict[str, Any]) -> str:
    """Import the objects through the start page; returns the address of the session."""
    file = folder / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "items": list(objects)}))
    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(file)
    page.wait_for_url("**/s/*/?show=answer", timeout=PATIENCE_MILLIS)
    return page.url.split("?")[0]


def test_an_import_without_pending_pods_says_so_and_what_to_look_at(page: Page, server: Server, tmp_path: Path) -> None:
    drop(page, server, tmp_path, node("a"), pod("web", "a"))

    expect(page.locator("[data-overview='0']")).to_have_text("No pod is pending.", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-none-pending='1']")).to_contain_text("kubectl describe pod")
    page.locator("[data-add-pod]").click()
    expect(page.get_by_role("dialog")).to_contain_text("Pod")


def test_an_import_with_one_pending_pod_opens_on_its_answer_from_which_the_list_is_one_click_away(
    page: Page, server: Server, tmp_path: Path
) -> None:
    address = drop(page, server, tmp_path, node("a"), pod("full", "a", cpu="3"), pod("web", cpu="3"))
    answer = page.locator("[data-why=pending]")
    expect(answer.locator("[data-why-main]")).to_contain_text("requests 3 CPU", timeout=PATIENCE_MILLIS)
    expect(answer.locator("[data-suggestion='0']")).to_contain_text("Add a node like a.", timeout=PATIENCE_MILLIS)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_url(f"{address}?select=pod:shop/web&tab=why", timeout=PATIENCE_MILLIS)

    page.locator("[data-all-pending]").click()
    expect(page.locator("[data-overview='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.goto(address)
    expect(answer).to_be_visible(timeout=PATIENCE_MILLIS)


def test_the_name_of_a_node_that_begins_the_answer_has_no_capital_letter(page: Page, server: Server, tmp_path: Path) -> None:
    tainted = node("node2") | {"spec": {"taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]}}
    drop(page, server, tmp_path, tainted, pod("web"))

    headline = page.locator("[data-why-main]")
    expect(headline).to_have_text(re.compile("^node2 has the taint dedicated=batch"), use_inner_text=True, timeout=PATIENCE_MILLIS)


def test_one_pending_pod_is_listed_if_the_doctor_has_found_something(page: Page, server: Server, tmp_path: Path) -> None:
    drop(page, server, tmp_path, node("a"), pod("web"), pod("left", "gone"))

    expect(page.locator("[data-doctor-verdict]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-overview='1']")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_an_import_whose_scheduler_has_not_run_opens_on_its_overview_again(page: Page, server: Server, tmp_path: Path) -> None:
    address = drop(page, server, tmp_path, node("a"), pod("web"), pod("api"))
    expect(page.locator("[data-overview]")).to_be_visible(timeout=PATIENCE_MILLIS)

    page.goto(address)
    expect(page.locator("[data-overview]")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.locator("[data-close-full]").click()
    expect(page.locator("[data-overview]")).to_have_count(0)
    page.locator("[data-pending-pods]").click()
    expect(page.locator("[data-overview]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-close-full]")).to_have_count(0)

    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-narration]")).to_contain_text("Cycle 1", timeout=PATIENCE_MILLIS)
    page.goto(address)
    expect(page.locator("[data-narration]")).to_contain_text("Cycle 1", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-overview]")).to_have_count(0)


def test_a_generated_cluster_has_neither_overview_nor_import_report(page: Page, server: Server) -> None:
    made = server.rest("sessions/", {"generate": {"shape": "demo", "nodes": 4, "pods": 12}})
    page.goto(f"{server.url}/s/{made['id']}/")
    expect(page.locator("[data-release]")).to_be_visible(timeout=PATIENCE_MILLIS)

    expect(page.locator("[data-overview]")).to_have_count(0)
    expect(page.get_by_role("button", name="What was loaded")).to_have_count(0)


def test_the_doctor_says_what_to_do_about_each_difference(page: Page, server: Server, tmp_path: Path) -> None:
    drop(page, server, tmp_path, node("a"), pod("web"), pod("left", "gone"))

    doctor = page.locator("[data-doctor-verdict]")
    expect(doctor).to_contain_text("node gone, which does not exist in the API server", timeout=PATIENCE_MILLIS)
    expect(doctor).to_contain_text("Next step:")


def test_the_events_of_a_claim_stand_beside_the_reason(page: Page, server: Server, tmp_path: Path) -> None:
    address = drop(page, server, tmp_path, node("a"), CLASS, CLAIM, EVENT, pod("db", claim="data"))
    page.goto(f"{address}?show=overview")
    expect(page.locator("[data-reason]")).to_contain_text("ProvisioningFailed: quota exceeded", timeout=PATIENCE_MILLIS)

    page.goto(f"{address}?select=pod:shop/db&tab=why")
    findings = page.locator("[data-why-findings]")
    expect(findings).to_contain_text("Events in the files", timeout=PATIENCE_MILLIS)
    expect(findings).to_contain_text("A storage limit is reached")


def test_the_tour_does_not_cover_an_import(browser: Browser, signed_in: BrowserContext, server: Server, tmp_path: Path) -> None:
    context = browser.new_context(storage_state=signed_in.storage_state(), viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(server.url)
    page.evaluate("localStorage.removeItem('schedviz.tour')")
    address = drop(page, server, tmp_path, node("a"), pod("web"))
    expect(page.locator("[data-why]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-tour]")).to_have_count(0)

    page.goto(address)
    expect(page.locator("[data-why]")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-tour]")).to_have_count(0)
    context.close()


def test_the_release_in_the_header_confirms_before_forking(page: Page, server: Server) -> None:
    made = server.rest("sessions/", {"generate": {"shape": "demo", "nodes": 4, "pods": 12}})
    page.goto(f"{server.url}/s/{made['id']}/")
    page.locator("button[data-release]").click(timeout=PATIENCE_MILLIS)

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This session does not change.", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-release-fork]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert made["id"] in page.url


def test_an_import_collapses_details_until_they_are_requested(page: Page, server: Server, tmp_path: Path) -> None:
    page.goto(server.url)
    page.evaluate(FORGET_PREFERENCES)
    tainted = node("b")
    tainted["spec"] = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    drop(page, server, tmp_path, node("a"), tainted, pod("web"), pod("cart"), pod("api", "a"))
    page.get_by_role("dialog", name="Pending pods").wait_for(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Escape")
    expect(page.locator("[data-narration]")).to_have_text("2 nodes: 1 pod is scheduled, 2 are pending", timeout=PATIENCE_MILLIS)
    nodes = page.get_by_role("table", name="Nodes")
    expect(nodes.locator("tr[data-key=b] [data-column=state]")).to_have_text("gpu:NoSchedule")
    generation = page.locator("[data-generation]")
    expect(generation).to_be_hidden()
    expect(page.locator(".transport")).to_be_hidden()

    page.locator("[data-internals]").click()
    expect(generation).to_be_visible()
    expect(nodes).to_have_count(0)
    expect(page.locator(".transport")).to_be_visible()
    page.reload()
    page.get_by_role("dialog", name="Pending pods").wait_for(timeout=PATIENCE_MILLIS)
    expect(generation).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("[data-internals]").click()
    expect(generation).to_be_hidden()

    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-cycle='1']")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator(".transport")).to_be_visible()
    expect(generation).to_be_hidden()
    page.keyboard.press("v")
    expect(generation).to_be_visible()


def test_the_overview_says_when_the_changes_that_would_place_pods_cannot_be_computed(page: Page, server: Server, tmp_path: Path) -> None:
    problem = {"code": "analysis_failed", "status": 409, "title": "The analysis failed", "detail": "The engine raised an error."}
    page.route("**/overview/?*changes=1", lambda route: route.fulfill(status=409, json=problem))
    drop(page, server, tmp_path, node("a"), pod("web", cpu="9"), pod("api", cpu="9"))

    expect(page.locator("[data-changes-problem]")).to_contain_text("The engine raised an error.", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-reason]")).to_have_count(1)


def test_the_overview_comes_back_from_the_top_bar_and_why_has_its_width(page: Page, server: Server, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server.url)
    page.evaluate(FORGET_PREFERENCES)
    drop(page, server, tmp_path, node("a"), pod("web"), pod("api"))
    page.get_by_role("dialog", name="Pending pods").wait_for(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Escape")
    expect(page.locator("[data-overview]")).to_have_count(0)

    page.locator("[data-pending-pods='2']").click()
    page.locator("[data-group] .why").first.click(timeout=PATIENCE_MILLIS)
    page.locator("[data-why-sentence]").wait_for(timeout=PATIENCE_MILLIS)
    assert page.locator(".drawer").evaluate("drawer => drawer.clientWidth") > 850


def test_a_change_for_several_pods_says_how_many_it_places_and_each_pod_opens(page: Page, server: Server, tmp_path: Path) -> None:
    cordoned = node("b")
    cordoned["spec"] = {"unschedulable": True}
    pods = (pod(f"web-{number}", cpu="3") for number in range(4))
    drop(page, server, tmp_path, node("a"), cordoned, pod("full", "a", cpu="3"), *pods)

    expect(page.locator("[data-change-effect]")).to_have_text(
        "This is enough for only 1 of 4 pods; for the others, add 3 nodes like a.", timeout=PATIENCE_MILLIS
    )
    page.locator("[data-group-more]").click()
    page.locator("[data-group]").get_by_role("button", name="web-3").click()
    expect(page.locator("[data-why-main]")).to_contain_text("requests 3 CPU", timeout=PATIENCE_MILLIS)
    assert page.get_by_role("heading", name="web-3").count() == 1


def test_the_numbers_of_a_group_are_printed_as_large_as_the_names_of_its_pods(page: Page, server: Server, tmp_path: Path) -> None:
    cordoned = node("b")
    cordoned["spec"] = {"unschedulable": True}
    drop(page, server, tmp_path, node("a"), cordoned, pod("full", "a", cpu="3"), pod("web", cpu="3"), pod("api", cpu="2"))

    numbers = page.locator("[data-group-headline]")
    expect(numbers).to_have_count(2, timeout=PATIENCE_MILLIS)
    size = page.locator("[data-group] .pod").first.evaluate("name => getComputedStyle(name).fontSize")
    expect(numbers.first).to_have_css("font-size", size)
