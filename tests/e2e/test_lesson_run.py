"""`schedviz lesson run`: the page of a lesson reloads when its files change."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schedviz.lessons.skeleton import write_skeleton
from tests.conftest import until
from tests.e2e.test_lessons import at
from tests.e2e.test_session_page import PATIENCE_MILLIS
from tests.up.running import Running, starter

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_skeleton(tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def running(tmp_path: Path, folder: Path, chromium: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "schedviz.cli.main", "lesson", "run", str(folder), "--no-open"]
    for start in starter(tmp_path, lambda _: command):
        yield start()


def test_the_page_reloads_the_same_stop_when_the_lesson_changes(running: Running, folder: Path, browser: Browser):
    link = running.login_link()
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MILLIS)
        page.goto(link)
        at(page, "two-nodes")
        page.locator("[data-lesson-next]").click()
        at(page, "where-will-it-go")
        text = folder / "en.md"

        text.write_text(text.read_text().replace("### Hint", "### Hunt"))
        expect(page.locator("[data-lesson-faults]")).to_contain_text("`Hunt` is no part of a stop", timeout=PATIENCE_MILLIS)
        first = page.url
        text.write_text(text.read_text().replace("### Hunt", "### Hint").replace("A pod was created", "A small pod was created"))

        page.wait_for_url(lambda url: "/s/" in url and url.split("#")[0] != first.split("#")[0])
        at(page, "where-will-it-go")
        expect(page.locator("aside.lesson")).to_contain_text("A small pod was created")
    until(lambda: "mine: 2 stops, 3 claims hold" in running.printed)
