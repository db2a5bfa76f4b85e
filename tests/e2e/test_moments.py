"""Time travel on the page: the engine does not move, and the URL has the moment."""

from __future__ import annotations

import re
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import until
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, figure, import_through, step_cycles

pytestmark = pytest.mark.browser


def wait_for_event(page: Page, event: int) -> None:
    page.locator(f'[data-event="{event}"]').wait_for(timeout=PATIENCE_MILLIS)


def test_a_step_back_puts_its_moment_in_the_url_until_live_is_pressed(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 3)
    head = figure(page, "data-event")
    assert head == server.rest(f"sessions/{session}/")["event"]

    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(r"[?&]at=\d+"), timeout=PATIENCE_MILLIS)
    past = figure(page, "data-event")
    assert past < head
    assert f"at={past}" in page.url
    cycle = page.locator("[data-cycle]").first.get_attribute("data-cycle")
    assert server.rest(f"sessions/{session}/")["event"] == head, "The engine stays where it is."

    page.reload()
    wait_for_event(page, past)
    assert page.locator("[data-cycle]").first.get_attribute("data-cycle") == cycle
    expect(page.locator("[data-waiting]")).to_have_attribute("data-waiting", str(head - past))

    page.keyboard.press("l")
    wait_for_event(page, head)
    expect(page.locator("[data-waiting]")).to_have_count(0)
    page.wait_for_url(re.compile(r"/s/[^?]*$"), timeout=PATIENCE_MILLIS)


def test_a_link_to_a_moment_opens_it_while_the_session_is_on_another_page(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 3)
    head = figure(page, "data-event")
    page.keyboard.press("ArrowLeft")
    until(lambda: figure(page, "data-event") < head)
    past = figure(page, "data-event")

    # The server sends a view from before the steps to it, and then their events.
    another = page.context.new_page()
    another.goto(f"{server.url}/s/{session}/?at={past}")
    wait_for_event(another, past)
    expect(another.locator("[data-waiting]")).to_have_attribute("data-waiting", str(head - past))
    another.close()


def test_new_events_do_not_scroll_the_timeline_away_from_the_viewed_range(page: Page, server: Server, file: Path) -> None:
    import_through(page, server, file)
    step_cycles(page, 4)
    timeline = page.locator("canvas[data-window]")
    box = timeline.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.6, steps=4)
    page.mouse.up()

    head = figure(page, "data-event")
    until(lambda: last_seen(page) < head)
    window = timeline.get_attribute("data-window")
    page.keyboard.press("ArrowRight")
    page.locator('[data-cycle="5"]:not([data-outcome=""])').wait_for(timeout=PATIENCE_MILLIS)
    assert timeline.get_attribute("data-window") == window

    page.keyboard.press("ArrowLeft")
    until(lambda: last_seen(page) >= figure(page, "data-event"))


def test_the_playhead_can_be_dragged_to_an_earlier_moment_and_back_to_the_head(page: Page, server: Server, file: Path) -> None:
    import_through(page, server, file)
    step_cycles(page, 4)
    head = figure(page, "data-event")
    timeline = page.locator("canvas[data-window]")
    box = timeline.bounding_box()
    assert box
    lanes, right = box["y"] + box["height"] * 0.6, box["x"] + box["width"]
    page.keyboard.press("0")
    first, last = (int(part) for part in (timeline.get_attribute("data-window") or "").split("-"))
    at_head = box["x"] + 76 + (box["width"] - 76) * (head - first) / (last - first)

    page.mouse.move(min(at_head, right - 1), lanes)
    page.mouse.down()
    page.mouse.move(box["x"] + 76 + (box["width"] - 76) * 0.4, lanes, steps=5)
    until(lambda: figure(page, "data-event") < head * 0.6)
    window = timeline.get_attribute("data-window")
    page.mouse.up()
    assert timeline.get_attribute("data-window") == window, "it moved the moment and did not zoom"
    assert "at=" in page.url or page.wait_for_url(re.compile(r"[?&]at=\d+"), timeout=PATIENCE_MILLIS) is None

    x = box["x"] + 76 + (box["width"] - 76) * (figure(page, "data-event") - first) / (last - first)
    page.mouse.move(x, lanes)
    page.mouse.down()
    page.mouse.move(right + 40, lanes, steps=5)
    page.mouse.up()
    wait_for_event(page, head)
    expect(page.locator("[data-waiting]")).to_have_count(0)


def test_the_tooltip_of_the_timeline_is_beside_the_pointer_and_names_the_pod(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 4)
    cycles = server.rest(f"sessions/{session}/cycles/?limit=2")["results"]
    timeline = page.locator("canvas[data-window]")
    first, last = (int(part) for part in (timeline.get_attribute("data-window") or "").split("-"))
    box = timeline.bounding_box()
    assert box
    x = box["x"] + 76 + (box["width"] - 76) * (cycles[1]["lastEvent"] - first) / (last - first) - 2
    y = box["y"] + 12
    page.mouse.move(x, y)

    tooltip = page.locator("[data-timeline-hover]")
    expect(tooltip).to_contain_text(cycles[1]["pod"].removeprefix("default/"), timeout=PATIENCE_MILLIS)
    place = tooltip.bounding_box()
    assert place
    assert abs(place["x"] - x) < 40
    assert abs(place["y"] + place["height"] - y) < 40


def last_seen(page: Page) -> int:
    """The last event of the timeline's window."""
    return int((page.locator("canvas[data-window]").get_attribute("data-window") or "").split("-")[1])


def test_a_history_entry_links_to_its_moment(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 2)
    pod = server.rest(f"sessions/{session}/cycles/?limit=1")["results"][0]["pod"]
    page.goto(f"{server.url}/s/{session}/?select=pod:{pod}&tab=history")
    page.locator("[data-entry]").first.wait_for(timeout=PATIENCE_MILLIS)
    entries = server.rest(f"sessions/{session}/stories/pods/{pod}/")["results"]
    shown = [row.get_attribute("data-entry") for row in page.locator("[data-entry]").all()]
    assert shown == [str(entry["event"]) for entry in reversed(entries)]
    expect(page.locator("[data-entry]", has_text="popped from activeQ")).to_have_count(1)
    page.locator("button[data-language=zh-CN]").click()
    expect(page.locator("[data-entry]", has_text="从 activeQ 出队")).to_have_count(1)
    page.locator("button[data-language=en]").click()

    page.locator("[data-entry]").last.click()
    wait_for_event(page, entries[0]["event"])
    page.wait_for_url(re.compile(rf"[?&]at={entries[0]['event']}\b"), timeout=PATIENCE_MILLIS)


def test_stepping_back_and_forward_works_after_every_worker_was_killed(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 5)
    page.locator("select").first.select_option(index=0)  # Slow, so that a run is in progress when they die.
    page.keyboard.press("Space")
    page.locator('[data-cycle="6"]').wait_for(timeout=PATIENCE_MILLIS)
    workers = [member for member in server.running.family() if is_engine(member)]
    assert workers

    for worker in workers:
        worker.kill()
    seen = figure(page, "data-event")
    page.keyboard.press("ArrowLeft")

    until(lambda: figure(page, "data-event") < seen)
    before = figure(page, "data-event")
    page.keyboard.press("ArrowLeft")
    until(lambda: figure(page, "data-event") < before)
    past = figure(page, "data-event")
    page.wait_for_url(re.compile(rf"[?&]at={past}\b"), timeout=PATIENCE_MILLIS)
    page.reload()
    wait_for_event(page, past)

    # Another worker took the session over: the run continues, and no event is missing.
    until(lambda: server.rest(f"sessions/{session}/")["cycle"] >= 8, seconds=60)
    page.keyboard.press("ArrowRight")
    until(lambda: figure(page, "data-event") > past)
    page.keyboard.press("l")
    until(lambda: figure(page, "data-event") == server.rest(f"sessions/{session}/")["event"], seconds=60)
    events = [event["event"] for event in server.rest(f"sessions/{session}/events/?limit=5000")["results"]]
    assert events == list(range(1, len(events) + 1))
    assert [cycle["cycle"] for cycle in server.rest(f"sessions/{session}/cycles/?limit=1000")["results"]][:8] == list(range(1, 9))


def is_engine(process: psutil.Process) -> bool:
    try:
        return any("engine" in word for word in process.cmdline())
    except psutil.Error:
        return False
