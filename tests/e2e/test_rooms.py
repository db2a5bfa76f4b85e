"""A room with a teacher and two participants, in both languages: following, answering, disconnecting, returning, forking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import missing, until
from tests.e2e.conftest import Server
from tests.e2e.test_accessibility import AXE, complaints
from tests.e2e.test_lessons import answer, at
from tests.e2e.test_session_page import PATIENCE_MILLIS, import_through

pytestmark = pytest.mark.browser


@contextmanager
def somebody(browser: Browser, *, width: int = 1280) -> Iterator[Page]:
    """A participant without an account in a separate browser. The page must not log errors."""
    context = browser.new_context(viewport={"width": width, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MILLIS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    yield page
    context.close()
    assert complaints == []


def open_room(teacher: Page, server: Server, lesson: str) -> str:
    """The code of a new room."""
    teacher.set_default_timeout(PATIENCE_MILLIS)
    teacher.goto(f"{server.url}/lessons/?begin={lesson}")
    teacher.locator("aside.lesson [data-open-room]").click()
    teacher.locator(".room-bar .code").wait_for()
    teacher.locator("aside[data-stop]").wait_for()
    return teacher.locator(".room-bar .code").inner_text()


def join(page: Page, server: Server, code: str, nickname: str, language: str) -> None:
    page.goto(f"{server.url}/r/{code}/")
    if language != "en":
        page.locator(f"button[data-language={language}]").click()
    page.locator("input[name=nickname]").fill(nickname)
    page.locator("[data-join]").click()
    following(page, "true")


def following(page: Page, is_so: str) -> None:
    page.locator(f".room-bar[data-following={is_so}]").wait_for()


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_room_is_opened_used_and_ended(page: Page, browser: Browser, server: Server, language: str):
    teacher = page
    code = open_room(teacher, server, "the-list")
    with somebody(browser) as ada, somebody(browser, width=390) as bob:
        join(ada, server, code, "Ada", language)
        join(bob, server, code, "Bob", language)
        expect(teacher.locator("[data-here='2']")).to_be_visible()
        # No link leads them out of the room.
        assert ada.locator("[data-fork], [data-compare], [data-export-open], [data-import], [data-share]").count() == 0
        assert teacher.locator("[data-compare]").count() == 1

        # They follow, and answer; results stay hidden until they are revealed.
        teacher.locator("[data-lesson-next]").click()
        at(ada, "first-snapshot")
        expect(ada.locator(".pointed").first).to_have_css("outline-style", "solid")
        at(bob, "first-snapshot")
        teacher.locator("[data-ask-room]").click()
        answer(ada, 4)
        answer(bob, 1)
        expect(teacher.locator("[data-answer='4'][data-count='1']")).to_be_visible()
        expect(ada.locator("[data-given='4']")).to_be_visible()
        assert ada.locator("[data-tally]").count() == 0

        # A participant disconnects, and has the same identity after reconnecting.
        address = bob.url
        bob.goto("about:blank")
        expect(teacher.locator("[data-here='1']")).to_be_visible()
        bob.goto(f"{server.url}/r/{code}/")
        bob.wait_for_url(address)
        expect(bob.locator("[data-given='1']")).to_be_visible()
        expect(teacher.locator("[data-here='2']")).to_be_visible()

        teacher.locator("[data-room-reveal]").click()
        expect(ada.locator("[data-right=true]")).to_be_visible()
        expect(bob.locator("[data-right=false]")).to_be_visible()
        expect(bob.locator("[data-answer='4'].right")).to_be_visible()

        # One participant looks around, and returns with one key.
        ada.locator("body").press("ArrowLeft")
        following(ada, "false")
        ada.locator("body").press("g")
        following(ada, "true")

        ada.locator("[data-hand]").click()
        expect(teacher.locator("[data-hands='1']")).to_contain_text("Ada")

        # One participant tries something on a fork. The teacher shows it to all, and leads them back.
        ada.locator("[data-room-try]").click()
        following(ada, "false")
        ada.locator("[data-snap-back]").click()
        following(ada, "true")
        teacher.locator("[data-room-panel]").click()
        teacher.locator("[data-participant=Ada] [data-show]").click()
        expect(bob.locator(".room-bar")).to_contain_text("Ada")
        teacher.locator("[data-show-own]").click()
        expect(bob.locator(".room-bar")).not_to_contain_text("Ada")

        # A locked room accepts no new participants. An ended one accepts nothing.
        teacher.locator("[data-lock][aria-pressed=false]").click()
        teacher.locator("[data-lock][aria-pressed=true]").wait_for()
        with somebody(browser) as eve:
            eve.goto(f"{server.url}/r/{code}/")
            eve.locator("input[name=nickname]").fill("Eve")
            eve.locator("[data-join]").click()
            expect(eve.locator("[role=alert]")).to_be_visible()
        teacher.locator("[data-end-room]").click()
        teacher.locator("[data-end=forget]").click()
        ada.locator("[data-room-closed]").wait_for()
        teacher.locator("[data-room-closed]").wait_for()


def test_a_teacher_asks_a_custom_question_and_other_views_show_it(page: Page, browser: Browser, server: Server):
    open_room(page, server, "the-list")
    room = page.url
    page.locator("[data-room-panel]").click()
    page.locator("[data-teacher-panel] summary").click()
    page.locator("[data-own-text]").fill("Is <b>a list</b> a heap?")
    page.locator("[data-own-options]").fill("yes\nno")
    page.locator("[data-ask-own]").click()
    with somebody(browser, width=390) as ada:
        join(ada, server, page.locator(".room-bar .code").inner_text(), "Ada", "en")
        expect(ada.locator(".question")).to_have_text("Is <b>a list</b> a heap?")
        answer(ada, "no")
        expect(page.locator("[data-teacher-panel] [data-answer=no][data-count='1']")).to_be_visible()
        page.goto(f"{room}presenter/")
        expect(page.locator("[data-presenter] [data-answer=no][data-count='1']")).to_be_visible()
        expect(page.locator("[data-presenter] [data-differences='v1.36']")).to_have_text("In v1.36: Nothing in this lesson is different.")
        page.goto(f"{room}projector/")
        expect(page.locator("[data-projector]")).to_be_visible()
        expect(page.locator(".card .asked")).to_have_text("Is <b>a list</b> a heap?")


def test_rooms_have_no_serious_accessibility_violation(signed_in: BrowserContext, browser: Browser, server: Server):
    if not AXE.exists():
        missing("axe-core", "Run `make setup`.")
    context = browser.new_context(bypass_csp=True, color_scheme="dark", reduced_motion="reduce", storage_state=signed_in.storage_state())
    page = context.new_page()
    open_room(page, server, "the-list")
    room = page.url
    page.locator("[data-room-panel]").click()
    page.locator("[data-teacher-panel] img").wait_for()
    assert complaints(page) == []
    for address, there in (
        (f"{server.url}/r/", "[data-join]"),
        (f"{server.url}/rooms/", "[data-room]"),
        (f"{server.url}/lessons/", "[data-lesson]"),
        (f"{room}presenter/", "[data-presenter] h2"),
        (f"{room}projector/", "[data-projector-begin]"),
    ):
        page.goto(address)
        page.locator(there).first.wait_for()
        assert complaints(page) == [], address
    context.close()


def test_the_projector_is_a_scaled_session_page_that_follows_the_teacher_and_shows_the_question(
    page: Page, signed_in: BrowserContext, server: Server
):
    open_room(page, server, "the-list")
    projector = signed_in.new_page()
    projector.set_default_timeout(PATIENCE_MILLIS)
    projector.set_viewport_size({"width": 1920, "height": 1080})
    projector.goto(f"{page.url}projector/")
    projector.locator("[data-projector-begin]").click()
    qr = projector.locator("[data-projector] img").first
    until(lambda: qr.evaluate("image => image.naturalWidth") > 0, seconds=60)

    page.locator("[data-lesson-next]").click()
    at(projector, "first-snapshot")
    page.locator("[data-ask-room]").click()
    question = projector.locator(".card .asked")
    expect(question).to_contain_text("How many does it visit")
    assert height_on_screen(projector, "main.panels") > 1080 * 0.75, "it fills the screen"
    for text in (".card .asked p", ".lesson .body p"):
        size, leading = projector.locator(text).first.evaluate(
            "text => [getComputedStyle(text).fontSize, getComputedStyle(text).lineHeight].map((length) => parseFloat(length) * text.currentCSSZoom)"
        )
        assert size >= 22
        assert leading >= size * 1.3
    canvas = projector.locator("canvas[role=application]")
    drawn, shown = canvas.evaluate("canvas => [canvas.width, canvas.getBoundingClientRect().width]")
    assert abs(drawn - shown) <= 2, "canvases are drawn at the size at which they are shown"

    page.locator("[data-room-reveal]").click()
    expect(projector.locator("[data-generation='0']")).to_have_count(0)
    expect(projector.locator("[data-tally]")).to_be_visible()
    projector.close()


def test_the_projector_of_a_room_without_a_lesson_shows_the_question(page: Page, server: Server, file: Path):
    session = import_through(page, server, file)
    room = server.rest("rooms/", {"session": session})
    server.rest(f"rooms/{room['id']}/questions/", {"text": "Which node?", "kind": "node"})

    page.goto(f"{server.url}/rooms/{room['id']}/projector/")

    expect(page.locator(".card .asked")).to_have_text("Which node?", timeout=PATIENCE_MILLIS)


def height_on_screen(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box
    return box["height"]
