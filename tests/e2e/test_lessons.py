"""Lessons in the browser, in both languages: right and wrong answers, leaving the path and returning."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from schedviz.lessons import Lesson, find
from schedviz.lessons.player import play
from tests.conftest import until
from tests.e2e.conftest import FORGET_PREFERENCES, Server
from tests.e2e.test_session_page import PATIENCE_MILLIS
from tests.e2e.test_tour import is_whole_in

pytestmark = pytest.mark.browser


def begin(page: Page, server: Server, lesson: str) -> None:
    page.goto(f"{server.url}/lessons/")
    # Whether or not the lesson was begun before, the last button begins it.
    page.locator(f"[data-lesson={lesson}] .do button").last.click()
    page.locator("aside[data-lesson]").wait_for(timeout=PATIENCE_MILLIS)


def at(page: Page, stop: str) -> None:
    page.locator(f"aside[data-stop={stop}]").wait_for(timeout=PATIENCE_MILLIS)


def answer(page: Page, value: Any) -> None:
    if isinstance(value, int):
        page.locator(".asking input").fill(str(value))
    else:
        for name in value if isinstance(value, list) else [value]:
            page.locator(f'.asking [data-option="{name}"]').click()
    page.locator(".asking .main").click()


def walk(page: Page, lesson: Lesson) -> None:
    """Every stop, with the answers that the engine computes."""
    for played in play(lesson):
        at(page, played.stop.id)
        if played.stop.question:
            answer(page, played.answer)
            page.locator("[data-right=true]").wait_for(timeout=PATIENCE_MILLIS)
        page.locator("[data-lesson-next]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator(".facts li")).to_have_count(len(lesson.texts["en"].take_home))


def test_a_stop_is_answered_and_left_with_the_keyboard(page: Page, server: Server) -> None:
    lesson = find("one-pod-end-to-end")
    begin(page, server, lesson.name)
    first, second = lesson.plan.stops[0].id, lesson.plan.stops[1].id
    at(page, first)
    focused = "document.activeElement.closest('aside[data-lesson] .body') !== null"
    page.wait_for_function(focused, timeout=PATIENCE_MILLIS)
    page.keyboard.press(".")
    expect(page.locator(".asking [data-option]").first).to_be_focused()
    page.locator(f'.asking [data-option="{next(play(lesson)).answer}"]').focus()
    page.keyboard.press("Enter")
    page.locator(".asking .main").focus()
    page.keyboard.press("Enter")
    page.locator("[data-right=true]").wait_for(timeout=PATIENCE_MILLIS)
    page.keyboard.press(".")
    at(page, second)
    page.keyboard.press(",")
    at(page, first)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Lesson", exact=True)).to_be_visible(timeout=PATIENCE_MILLIS)


def test_the_first_lesson_opens_in_the_simple_view_and_says_why_the_node_is_chosen(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/lessons/")
    page.evaluate(FORGET_PREFERENCES)
    lesson = find("one-pod-end-to-end")
    begin(page, server, lesson.name)
    expect(page.locator("[data-internals]")).to_have_attribute("aria-pressed", "false", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-generation]")).to_be_hidden()
    expect(page.locator("[data-untried]")).to_have_count(0)
    panels = [page.locator(f"section[aria-labelledby={panel}-title]").bounding_box() for panel in ("queue", "cycle", "cache")]
    queue, cycle, cache = [(panel["x"], panel["x"] + panel["width"]) for panel in panels if panel]
    assert queue[1] <= cycle[0]
    assert cycle[1] <= cache[0]
    said = {
        "the-write": "The API server has accepted the binding of web to large",
        "the-echo": "The watch event has arrived: web is bound to large",
    }
    for played in play(lesson):
        at(page, played.stop.id)
        answer(page, played.answer)
        page.locator("[data-right=true]").wait_for(timeout=PATIENCE_MILLIS)
        if played.stop.id == "who-is-best":
            expect(page.locator("aside .answer")).to_contain_text("large has a larger share of its CPU free")
            expect(page.locator("[data-binding-of][data-phase=assumed]")).to_be_visible()
            until(lambda: is_whole_in(page, "[data-stage=Score] table", ".stage-list"))
            expect(page.locator("[data-because]")).to_contain_text("because large has a larger share of its CPU and memory free")
        if sentence := said.get(played.stop.id):
            expect(page.locator("[data-narration]")).to_have_text(sentence, timeout=PATIENCE_MILLIS)
            until(lambda: is_whole_in(page, "[data-binding-of]", ".stage-list"))
        page.locator("[data-lesson-next]").click(timeout=PATIENCE_MILLIS)


def test_the_list_of_lessons_begins_with_a_path_of_three_in_the_release_of_the_first_session(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/lessons/")
    path = page.locator("section").filter(has=page.locator("#part-starters")).locator("[data-lesson]")
    expect(path).to_have_count(3, timeout=PATIENCE_MILLIS)
    for lesson in path.all():
        expect(lesson).to_contain_text("v1.36")


def test_a_later_lesson_shows_details_only_of_the_panels_that_its_stops_speak_about(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/lessons/")
    page.evaluate(FORGET_PREFERENCES)
    begin(page, server, "two-backoffs")
    internals = page.locator("[data-internals]")
    expect(internals).to_have_attribute("aria-pressed", "false", timeout=PATIENCE_MILLIS)
    for detail in ("[data-generation]", ".figures dt:text-is('schedulingCycle')", "[data-breakpoints]"):
        expect(page.locator(detail)).not_to_be_visible()
    page.goto(f"{server.url}/lessons/")
    begin(page, server, "the-list")
    expect(page.locator("[data-generation]")).to_be_visible(timeout=PATIENCE_MILLIS)
    for detail in (".figures dt:text-is('schedulingCycle')", "[data-breakpoints]", "[data-bindings]"):
        expect(page.locator(detail)).to_be_hidden()
    internals.click()
    expect(page.locator("[data-breakpoints]")).to_be_visible()
    internals.click()
    expect(page.locator("[data-breakpoints]")).to_be_hidden()
    expect(page.locator("[data-generation]")).to_be_visible()


def test_the_list_of_lessons_has_a_line_for_each_and_its_text_on_request(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/lessons/")
    line = page.locator("[data-lesson=the-list]")
    about = line.locator("details p")
    expect(line.locator("h3")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(about).to_be_hidden()
    line.locator("summary").click()
    expect(about).to_be_visible()
    expect(page.locator("[data-open-room]")).to_have_count(0)


@pytest.mark.parametrize("name", ["the-list", "hazards-of-expiry", "nominated-for-ever", "asynchronous-preemption"])
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_lesson_is_completed_from_start_to_end(page: Page, server: Server, language: str, name: str):
    lesson = find(name)
    begin(page, server, lesson.name)
    if language != "en":
        page.locator(f"button[data-language={language}]").click()
    expect(page.locator("aside h2")).to_have_text(lesson.texts[language].title)
    walk(page, lesson)
    if language != "en":
        page.locator("button[data-language=en]").click()


def test_a_lesson_shows_what_another_release_does_differently(page: Page, server: Server):
    begin(page, server, "backoff-doubles")
    line = page.locator("aside [data-differences='v1.36']")
    expect(page.locator(".asking")).to_be_visible()
    expect(line).to_have_count(0)
    answer(page, "active")
    expect(line).to_contain_text("In v1.36, this stop ends differently: A changed label does not requeue the pod")


def test_a_wrong_answer_is_explained_and_the_stop_is_repeated_on_a_fork(page: Page, server: Server):
    begin(page, server, "the-list")
    page.locator("[data-lesson-next]").click()
    at(page, "first-snapshot")
    answer(page, 1)
    expect(page.locator("[data-right=false]")).to_contain_text("You answered “1”.")
    first = page.url

    page.get_by_role("button", name="Try again").click()
    page.wait_for_url(lambda url: url.split("#")[0] != first, timeout=PATIENCE_MILLIS)
    at(page, "first-snapshot")
    answer(page, 4)
    expect(page.locator("[data-right=true]")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_the_learner_leaves_the_path_and_returns(page: Page, server: Server):
    begin(page, server, "the-list")
    page.locator("[data-lesson-next]").click()
    at(page, "first-snapshot")
    session = page.url.split("/s/")[1].split("/")[0]
    server.rest(f"sessions/{session}/commands/", {"op": "cordon", "node": "node-b"})

    expect(page.locator("aside.lesson")).to_contain_text("You have left the lesson", timeout=PATIENCE_MILLIS)
    page.get_by_role("button", name="Return to the lesson").click()

    page.wait_for_url(lambda url: session not in url, timeout=PATIENCE_MILLIS)
    at(page, "first-snapshot")
    expect(page.locator(".asking")).to_be_visible()


def test_the_path_waits_while_the_learner_tries_a_fork(page: Page, server: Server):
    begin(page, server, "the-list")
    page.locator("[data-lesson-next]").click()
    at(page, "first-snapshot")
    path = page.url

    page.locator("[data-lesson-try]").click()
    page.wait_for_url(lambda url: url != path, timeout=PATIENCE_MILLIS)
    at(page, "first-snapshot")
    fork = page.url.split("/s/")[1].split("/")[0]
    server.rest(f"sessions/{fork}/commands/", {"op": "cordon", "node": "node-b"})
    expect(page.locator("aside.lesson")).to_contain_text("This fork is not part of the lesson", timeout=PATIENCE_MILLIS)
    page.locator("[data-lesson-rejoin]").click()

    page.wait_for_url(path, timeout=PATIENCE_MILLIS)
    at(page, "first-snapshot")
    expect(page.locator(".asking")).to_be_visible()


def test_progress_is_shown_in_another_browser(page: Page, server: Server):
    begin(page, server, "the-list")
    page.locator("[data-lesson-next]").click()
    at(page, "first-snapshot")
    answer(page, 1)
    page.locator("[data-right=false]").wait_for(timeout=PATIENCE_MILLIS)
    session = page.url.split("/s/")[1].split("/")[0]
    until(lambda: (server.rest(f"sessions/{session}/lesson/")["progress"] or {}).get("answers") == {"first-snapshot": 1})

    page.evaluate("localStorage.clear()")
    page.reload()
    at(page, "first-snapshot")
    expect(page.locator("[data-right=false]")).to_contain_text("You answered “1”.", timeout=PATIENCE_MILLIS)


def test_each_stop_has_a_url(page: Page, server: Server):
    page.goto(f"{server.url}/lessons/?begin=the-list&stop=a-pod-is-assumed")
    at(page, "a-pod-is-assumed")
    session = page.url.split("/s/")[1].split("/")[0]
    until(lambda: len(server.rest(f"sessions/{session}/state/")["queue"]["activeQ"]) == 1)
    expect(page.locator(".asking")).to_be_visible()
