"""Lessons that do not ship: written in a folder that SCHEDVIZ_LESSONS names, and read anew each time."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from schedviz.lessons import read_lesson
from schedviz.lessons.catalogue import OWN_FOLDERS
from schedviz.lessons.checking import faults_of
from schedviz.lessons.skeleton import write_skeleton
from schedviz.sessions.models import Session
from tests.conftest import OWN_LESSONS, Worker
from tests.web.api.test_lessons import begin, execute
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner")


@pytest.fixture(autouse=True)
def lessons(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of lessons that the server and the workers know."""
    OWN_LESSONS.mkdir()
    monkeypatch.setenv(OWN_FOLDERS, str(OWN_LESSONS))
    yield OWN_LESSONS
    shutil.rmtree(OWN_LESSONS)


@pytest.fixture
def folder(lessons: Path) -> Path:
    """A lesson that is right."""
    folder = lessons / "mine"
    write_skeleton(folder)
    return folder


def test_a_users_own_lesson_is_in_the_course_and_is_reloaded_when_it_changes(owner: APIClient, folder: Path):
    listed = [one["name"] for part in owner.get("/api/v1/lessons/").json()["parts"] for one in part["lessons"]]
    assert "mine" in listed
    before = owner.get("/api/v1/lessons/mine/").json()
    assert (before["own"], before["faults"]) == (True, [])

    (folder / "lesson.yaml").write_text("part: [")

    after = owner.get("/api/v1/lessons/mine/").json()
    assert after["version"] != before["version"]
    assert after["faults"][0].startswith("lesson.yaml:1: it is not YAML")
    refused = owner.post("/api/v1/sessions/", {"lesson": "mine"}, format="json")
    assert refused.status_code == 409
    assert owner.get("/api/v1/lessons/the-list/").json()["own"] is False


def test_a_lesson_with_half_of_its_texts_can_be_viewed(owner: APIClient, folder: Path, io_worker: Worker):
    hint = '    hints:\n      - {id: placed, when: "state.cache.podStates.\\"default/web\\".node == \'large\'"}\n'
    plan = (folder / "lesson.yaml").read_text()
    (folder / "lesson.yaml").write_text(plan.replace("    reveal:\n", hint + "    reveal:\n"))
    english = (folder / "en.md").read_text()
    (folder / "en.md").write_text(english.replace("## Take home", "### Hint placed\nLook: it is there.\n\n## Take home"))
    (folder / "zh-CN.md").unlink()
    session = begin(owner, "mine")
    stop = owner.get(f"/api/v1/sessions/{session}/lesson/").json()["stops"][1]
    assert stop["text"]["zh-CN"] == stop["text"]["en"]
    assert stop["hints"] is True

    execute(owner, session, stop["do"])
    url = f"/api/v1/sessions/{session}/lesson/hints/?stop=where-will-it-go"
    assert owner.get(url).json()["hints"] == []
    execute(owner, session, stop["reveal"])
    assert [hint["words"]["en"] for hint in owner.get(url).json()["hints"]] == ["<p>Look: it is there.</p>\n"]
    assert owner.get(f"/api/v1/sessions/{session}/lesson/hints/?stop=no-such").status_code == 404

    (folder / "en.md").write_text(english + "\n")
    assert owner.get(f"/api/v1/sessions/{session}/lesson/").json()["changed"] is True


def test_a_session_becomes_a_lesson_that_passes_once_its_texts_are_written(owner: APIClient, folder: Path, io_worker: Worker):
    session = begin(owner, "mine")
    stop = owner.get(f"/api/v1/sessions/{session}/lesson/").json()["stops"][1]
    execute(owner, session, stop["do"])
    moment = Session.objects.get(pk=session).event
    execute(owner, session, [*stop["reveal"], {"op": "cordon", "node": "small"}])

    made = owner.get(f"/api/v1/sessions/{session}/lesson/draft/?name=made&at={moment},{moment + 1}")
    zipfile.ZipFile(io.BytesIO(made.content)).extractall(folder.parent)

    drafted = folder.parent / "made"
    lesson = read_lesson(drafted)
    assert [[type(command).__name__ for command in stop.do] for stop in lesson.plan.stops] == [
        [],
        ["Create"],
        ["Cycle"],
    ]
    assert {fault.message for fault in faults_of(lesson)} >= {
        "beginning: nothing is said",
        "the lesson has no title yet",
        "say under the title what the lesson is about",
    }
    for language in ("en", "zh-CN"):
        text = drafted / f"{language}.md"
        written = (
            text.read_text().replace("# –", "# A title").replace("-->", "-->\nWords.").replace("-->\nWords.\n\n##", "-->\n\nWords.\n\n##")
        )
        text.write_text(written[: written.rindex("Words.")] + "- One.\n- Two.\n- Three.\n")
    assert faults_of(read_lesson(drafted)) == []
    shutil.rmtree(drafted)


@pytest.mark.parametrize("query", ["name=My Lesson", "at=5,x"])
def test_an_invalid_request_for_a_draft_gets_400(owner: APIClient, people: People, query: str):
    assert owner.get(f"/api/v1/sessions/{people.session.pk}/lesson/draft/?{query}").status_code == 400
