"""User actions on the page, and their effect in the scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import until
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, import_through, pods_in

pytestmark = pytest.mark.browser


def open_doing(page: Page, key: str) -> Locator:
    page.keyboard.press(key)
    sheet = page.get_by_role("dialog", name="Actions")
    sheet.wait_for()
    return sheet


def told(sheet: Locator, tone: str) -> str:
    element = sheet.locator(f"[data-result={tone}]")
    element.wait_for(timeout=PATIENCE_MILLIS)
    return element.inner_text()


def write(sheet: Locator, text: str) -> None:
    """Replace the editor's text by pasting."""
    editor = sheet.locator(".cm-content")
    editor.wait_for(timeout=PATIENCE_MILLIS)
    editor.focus()
    sheet.page.keyboard.press("ControlOrMeta+a")
    editor.evaluate(
        """(element, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            element.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true, composed: true}));
        }""",
        text,
    )


POD = """apiVersion: v1
kind: Pod
metadata:
  name: injected
spec:
  priority: 1000
  containers:
    - name: main
      resources:
        requests:
          cpu: CPU
"""


def test_a_pod_is_injected_during_a_cycle(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    page.locator('[data-cycle="1"][data-outcome=""]').wait_for(timeout=PATIENCE_MILLIS)

    sheet = open_doing(page, "n")
    expect(sheet.locator("[data-place]")).to_contain_text("during cycle 1")
    write(sheet, POD.replace("CPU", "100m"))
    sheet.get_by_role("button", name="Create").click()

    assert "default/injected" in told(sheet, "done") or "injected" in told(sheet, "done")
    until(lambda: any(entry["pod"] == "default/injected" for entry in server.rest(f"sessions/{session}/state/")["queue"]["activeQ"]))
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.get_by_role("radio", name="pop order").click()
    until(lambda: pods_in(page, "activeQ")[0] == "default/injected")


def test_errors_in_an_object_are_marked_at_their_line_before_and_after_submission(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    sheet = open_doing(page, "n")

    write(sheet, POD.replace("CPU", "half"))
    expect(sheet.locator("[data-problems]")).to_contain_text("Line 11: half is not a quantity")
    expect(sheet.get_by_role("button", name="Create")).to_be_disabled()

    write(sheet, POD.replace("CPU", "100m").replace("name: injected", "name: injected\n  creationTimestamp: yesterday"))
    sheet.get_by_role("button", name="Create").click()

    assert "metadata.creationTimestamp" in told(sheet, "refused")
    expect(sheet.locator(".cm-lintRange-error")).to_have_text("yesterday")


def test_an_object_is_edited_from_the_palette(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("edit node-2")
    page.keyboard.press("Enter")

    sheet = page.get_by_role("dialog", name="Actions")
    editor = sheet.locator(".cm-content")
    expect(editor).to_contain_text("node-2", timeout=PATIENCE_MILLIS)
    text = "\n".join(line.inner_text() for line in editor.locator(".cm-line").all())
    write(sheet, text.replace("spec: {}", "spec:\n  unschedulable: true"))
    sheet.get_by_role("button", name="Replace").click()

    told(sheet, "done")
    body = server.rest(f"sessions/{session}/objects/?kind=Node&name=node-2")
    assert body["spec"]["unschedulable"] is True


def test_the_configuration_is_edited_in_form_and_text(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    sheet = open_doing(page, "g")

    sheet.locator("[data-plugin-line=ImageLocality] input[type=checkbox]").click(timeout=PATIENCE_MILLIS)
    expect(sheet.locator(".cm-content")).to_contain_text("disabled")
    weight = sheet.locator("[data-plugin-line=TaintToleration] input[type=number]")
    weight.fill("7")
    weight.press("Tab")
    expect(sheet.locator(".cm-content")).to_contain_text("weight: 7")
    sheet.get_by_role("button", name="Apply", exact=True).click()
    told(sheet, "done")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")

    until(lambda: server.rest(f"sessions/{session}/")["cycle"] >= 2)
    scores = until(lambda: scored(server, session))
    assert "ImageLocality" not in scores
    assert scores["TaintToleration"]["weight"] == 7


def test_the_configuration_tells_once_when_it_takes_effect(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    sheet = open_doing(page, "g")
    expect(sheet.locator("[data-place]")).to_contain_text("Step to its end before you apply, or use Apply and restart")
    expect(sheet.locator("[data-config-hint]")).to_have_text("Apply keeps the cache and the queue. Apply and restart builds both again.")

    apply = sheet.get_by_role("button", name="Apply", exact=True)
    apply.click(timeout=PATIENCE_MILLIS)

    assert "let it end first (step), or configure with a restart" in told(sheet, "nothing")


@pytest.mark.parametrize(("release", "absent"), [("v1.27.1", "DynamicResources"), ("v1.36", "EBSLimits")])
def test_the_configuration_lists_the_plugins_of_the_sessions_release(page: Page, server: Server, release: str, absent: str):
    present = {"DynamicResources": "EBSLimits", "EBSLimits": "DynamicResources"}[absent]
    session = str(server.rest("sessions/", {"generate": {"nodes": 4, "pods": 4}, "release": release})["id"])
    page.goto(f"{server.url}/s/{session}/")
    expect(page.locator("[data-transport=step]")).to_be_visible(timeout=PATIENCE_MILLIS)
    sheet = open_doing(page, "g")

    expect(sheet.locator(f"[data-plugin-line={present}] input[type=checkbox]")).to_be_checked(timeout=PATIENCE_MILLIS)
    expect(sheet.locator(f"[data-plugin-line={absent}]")).to_have_count(0)


def scored(server: Server, session: str) -> Any:
    """The scores of the newest cycle that scored."""
    for cycle in range(server.rest(f"sessions/{session}/")["cycle"], 0, -1):
        if scores := server.rest(f"sessions/{session}/cycles/{cycle}/").get("scores"):
            return scores
    return None


def test_errors_in_a_configuration_are_marked_at_their_line(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    sheet = open_doing(page, "g")
    configuration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 400\n"

    write(sheet, configuration)
    sheet.get_by_role("button", name="Apply", exact=True).click()

    assert "percentageOfNodesToScore" in told(sheet, "refused")
    expect(sheet.locator(".cm-lintRange-error")).to_have_text("400")


def test_five_nodes_are_added_and_one_is_drained(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    sheet = open_doing(page, "m")

    sheet.locator("[data-do=nodes]").click()
    told(sheet, "done")
    until(lambda: len(server.rest(f"sessions/{session}/state/")["cache"]["list"]) == 10)

    sheet.get_by_role("combobox").first.select_option("node-1")
    sheet.get_by_role("button", name="Drain").click()
    expect(sheet.locator("[data-result=done]")).to_contain_text("node-1 is drained", timeout=PATIENCE_MILLIS)


def test_a_binding_fails_on_request(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.get_by_role("radio", name="pop order").click()
    sheet = open_doing(page, "x")
    for _ in range(2):  # The first pod fits nowhere.
        sheet.get_by_role("button", name="Schedule one pod").click()
        told(sheet, "done")
    sheet.get_by_role("button", name="Fail", exact=True).click(timeout=PATIENCE_MILLIS)

    expect(sheet.locator("[data-result=done]")).to_contain_text("Binding default/web-1 failed", timeout=PATIENCE_MILLIS)
    until(lambda: "default/web-1" in pods_in(page, "backoffQ"))


def test_the_release_is_chosen_where_a_session_is_created_and_shown_in_its_header(page: Page, server: Server, file: Path):
    for release, shown in (("v1.27.1", "v1.27.1"), ("", "v1.36")):
        page.goto(f"{server.url}/sessions/")
        page.locator("[data-choose-release]").select_option(release)
        page.locator("[data-try=lesson]").click()
        page.wait_for_url("**/s/*/")
        expect(page.locator("[data-release]")).to_have_text(f"kube-scheduler {shown}", timeout=PATIENCE_MILLIS)
        expect(page.locator("[data-release]")).to_be_visible()

    page.goto(f"{server.url}/sessions/")
    page.locator("[data-choose-release]").select_option("v1.36")
    page.locator("[data-upload]").set_input_files(file)
    page.wait_for_url("**/s/*/?show=answer", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-release]")).to_have_text("kube-scheduler v1.36", timeout=PATIENCE_MILLIS)


def test_the_release_in_the_header_forks_to_the_other_release(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    expect(page.locator("[data-release]")).to_have_text("kube-scheduler v1.27.1", timeout=PATIENCE_MILLIS)
    origin = page.url
    page.locator("button[data-release]").click()
    page.locator("[data-release-fork]").click(timeout=PATIENCE_MILLIS)
    page.wait_for_url(lambda url: url.split("?")[0] != origin.split("?")[0], timeout=PATIENCE_MILLIS)

    expect(page.locator("[data-release]")).to_have_text("kube-scheduler v1.36", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-forked-from]")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_dropped_file_becomes_a_session(page: Page, server: Server, file: Path):
    page.goto(f"{server.url}/sessions/")
    page.locator("[data-try=lesson]").wait_for()
    transfer = page.evaluate_handle(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "dropped.json", {type: "application/json"}));
            return transfer;
        }""",
        file.read_text(),
    )

    page.dispatch_event("body", "dragover", {"dataTransfer": transfer})
    expect(page.get_by_text("Drop files to create a session")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})

    page.wait_for_url("**/s/*/**", timeout=PATIENCE_MILLIS)
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
    session = page.url.split("/s/")[1].split("/")[0]
    assert server.rest(f"sessions/{session}/")["source"]["files"] == ["dropped.json"]


def test_a_session_is_found_renamed_and_deleted(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    page.goto(f"{server.url}/sessions/")
    row = page.locator(f'[data-session="{session}"]')

    row.get_by_role("button", name="Rename").click()
    page.get_by_label("Rename", exact=True).fill("One of a kind")
    page.keyboard.press("Enter")
    expect(row).to_contain_text("One of a kind")
    page.get_by_placeholder("Find by name").fill("of a kind")
    expect(page.locator("tr[data-session]")).to_have_count(1)

    row.get_by_role("button", name="Delete").click()
    row.get_by_role("button", name="Confirm deletion").click()
    expect(row).to_have_count(0)


def test_the_language_changes_without_a_reload_and_persists(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.evaluate("window.untouched = true")

    page.locator("button[data-language]").click()
    expect(page.locator("#cache-title")).to_have_text("缓存")
    assert page.evaluate("window.untouched") is True, "the page was not loaded again"
    assert page.evaluate("document.documentElement.lang") == "zh-CN"

    page.reload()
    expect(page.locator("#cache-title")).to_have_text("缓存", timeout=PATIENCE_MILLIS)
    page.locator("button[data-language]").click()
    expect(page.locator("#cache-title")).to_have_text("Cache")


def test_a_share_link_gives_read_access_until_it_is_revoked(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog", name="Share")
    dialog.get_by_role("button", name="Create a read-only link").click()
    address = dialog.locator("li input").input_value()
    browser = page.context.browser
    assert browser

    with browser.new_context() as stranger:
        visitor = stranger.new_page()
        visitor.goto(address)
        visitor.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
        dialog.get_by_role("button", name="Revoke").click()
        expect(dialog.locator("li")).to_have_count(0)
        visitor.goto(address)
        assert "/login/" in visitor.url


def test_space_plays_after_a_dialog_that_a_click_opened(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.get_by_role("button", name="Help").click()
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")
    # The dialog closes before the page handles its event. A person is not that quick.
    expect(page.locator("dialog")).to_have_count(0)

    page.keyboard.press("Space")

    expect(page.locator("[data-cycle]").first).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_space_plays_after_a_click_and_activates_what_has_keyboard_focus(page: Page, server: Server, file: Path):
    import_through(page, server, file)
    page.get_by_role("radio", name="pop order").click()

    page.keyboard.press("Space")
    expect(page.locator("[data-cycle]").first).to_be_visible(timeout=PATIENCE_MILLIS)

    page.get_by_role("radio", name="table").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="table")).to_be_checked()
    page.get_by_role("radio", name="list", exact=True).click()
