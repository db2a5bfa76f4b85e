"""A session is forked at a moment, and both are compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import until
from tests.e2e.cluster import dump
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, figure, import_through, step_cycles

pytestmark = pytest.mark.browser


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(dump(pods=6)))
    return file


def session_of(page: Page) -> str:
    return page.url.split("/s/")[1].split("/")[0]


def wait_for_fork(page: Page, session: str) -> str:
    page.wait_for_url(lambda url: "/s/" in url and session not in url, timeout=PATIENCE_MILLIS)
    page.locator("[data-forked-from]").wait_for(timeout=PATIENCE_MILLIS)
    return session_of(page)


def test_the_second_session_of_a_comparison_is_chosen_from_a_list_and_the_result_has_the_focus(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    fork = server.rest(f"sessions/{session}/branches/", {})["id"]
    until(lambda: server.rest(f"sessions/{fork}/")["status"] == "ready")

    page.goto(f"{server.url}/compare/?a={session}")
    page.locator(f"[data-other='{fork}']").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-result]")).to_have_text("No differences", timeout=PATIENCE_MILLIS)

    page.reload()
    expect(page.locator("[data-result]")).to_be_focused(timeout=PATIENCE_MILLIS)


def test_a_fork_of_an_earlier_moment_is_compared(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 4)
    for _ in range(2):
        before = figure(page, "data-event")
        page.keyboard.press("ArrowLeft")
        until(lambda before=before: figure(page, "data-event") < before)
    moment = figure(page, "data-event")

    page.keyboard.press("f")
    fork = wait_for_fork(page, session)
    made = server.rest(f"sessions/{fork}/")
    assert made["forkedFrom"]["id"] == session
    assert made["event"] >= moment, "An engine stands between two stages."
    banner = page.locator("[data-forked-from]")
    assert banner.get_attribute("data-forked-from") == session
    expect(banner).to_contain_text("cluster.json")

    # On the fork all nodes but one are cordoned, so that the next pods go elsewhere.
    for node in (2, 3, 4, 5):
        page.keyboard.press("/")
        page.keyboard.type(f"cordon node-{node}")
        page.keyboard.press("Enter")
        until(lambda node=node: server.rest(f"sessions/{fork}/objects/?kind=Node&name=node-{node}")["spec"].get("unschedulable"))
    page.keyboard.press("Space")
    until(lambda: server.rest(f"sessions/{fork}/")["cycle"] >= 7)

    page.locator("[data-fork-compare]").click()
    page.wait_for_url(re.compile(r"/compare/\?a=.*&b="), timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-same]")).to_have_attribute("data-same", "false", timeout=PATIENCE_MILLIS)
    body = server.rest(f"compare/?a={session}&b={fork}")
    result, first = page.locator("[data-result]").inner_text(), body["divergence"]["cycle"]["b"]
    assert result.startswith(f"In B, {first['pod'].removeprefix('default/')} is on {first['node']} instead of")
    places, why = (page.locator(f"#compare-{part}").bounding_box() for part in ("placements", "divergence"))
    assert places
    assert why
    assert places["y"] < why["y"], "the result comes before its reason"
    shown = {
        row.get_attribute("data-placements"): int(row.get_attribute("data-count") or 0) for row in page.locator("[data-placements]").all()
    }
    counts = body["placements"]
    counts["same"] -= counts["pendingInBoth"]
    assert shown == {part: counts[part] for part in shown}
    assert sum(shown.values()) == 8
    assert page.locator("table[aria-label=Placements] [data-key]").count() == len(body["placements"]["pods"])

    page.locator("[data-beside]").click()
    for side in ("a", "b"):
        page.locator(f"[data-half={side}] [data-generation]").wait_for(timeout=PATIENCE_MILLIS)
    heads = {one: server.rest(f"sessions/{one}/")["event"] for one in (session, fork)}
    page.locator("[data-both=forward]").click()
    page.locator("[data-both=back]").click()
    assert heads == {one: server.rest(f"sessions/{one}/")["event"] for one in (session, fork)}, "Engines stay where they are."

    with page.expect_download() as downloading:
        page.locator("[data-report]").click()
    assert "<html" in downloading.value.path().read_text()
    at = int(re.search(r"at=(\d+)", page.locator("[data-go=b]").get_attribute("href") or "")[1])  # type: ignore[index]
    page.locator("[data-go=b]").click()
    page.wait_for_url(re.compile(rf"/s/{fork}/"), timeout=PATIENCE_MILLIS)
    page.locator(f'[data-event="{at}"]').wait_for(timeout=PATIENCE_MILLIS)

    page.locator("[data-fork-back]").click()
    page.wait_for_url(re.compile(rf"/s/{session}/\?at={made['forkedFrom']['event']}"), timeout=PATIENCE_MILLIS)
    page.locator(f'[data-event="{made["forkedFrom"]["event"]}"]').wait_for(timeout=PATIENCE_MILLIS)


def test_undo_continues_in_a_fork_with_the_same_name(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 2)
    head = figure(page, "data-event")
    page.keyboard.press("u")
    expect(page.locator(".notices")).to_contain_text("nothing to undo")
    page.keyboard.press("ArrowLeft")
    until(lambda: figure(page, "data-event") < head)

    page.keyboard.press("u")

    fork = wait_for_fork(page, session)
    made = server.rest(f"sessions/{fork}/")
    assert (made["name"], made["cycle"]) == (server.rest(f"sessions/{session}/")["name"], 1)
    expect(page.locator("[data-forked-from]")).to_contain_text("Continues from event")
    assert server.rest(f"sessions/{session}/")["event"] == head, "What was undone is still there."


def test_an_exported_session_is_imported_unchanged(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 3)
    page.keyboard.press("e")
    with page.expect_download() as downloading:
        page.locator("[data-export=file]").click()
    expect(page.locator("[data-exported]")).to_contain_text(".schedviz")
    saved = file.parent / downloading.value.suggested_filename
    downloading.value.save_as(saved)
    assert saved.suffix == ".schedviz"

    again = import_through(page, server, saved)

    assert again != session
    assert server.rest(f"sessions/{again}/")["event"] == server.rest(f"sessions/{session}/")["event"]
    assert server.rest(f"compare/?a={session}&b={again}")["same"] is True
    page.get_by_role("button", name="What was loaded").click()
    expect(page.get_by_role("dialog")).to_contain_text("all events and the final state match")

    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("e")
    page.get_by_label("Steps up to a state").check()
    with page.expect_download() as downloading:
        page.locator("[data-export=trace]").click()
    assert json.loads(downloading.value.path().read_text())["format"] == "schedviz-trace/1"

    page.locator("details.make summary").click()
    with page.expect_download() as downloading:
        page.locator("[data-make-lesson]").click()
    assert downloading.value.suggested_filename.endswith(".zip")
