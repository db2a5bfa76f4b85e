"""Lessons that do not ship: written in a folder that SCHEDVIZ_LESSONS names, and read anew each time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from schedviz.lessons.catalogue import OWN_FOLDERS
from schedviz.lessons.skeleton import write_skeleton
from tests.conftest import Worker
from tests.web.conftest import People
from tests.web.test_lessons import begin, carry_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner")


@pytest.fixture(scope="module", autouse=True)
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of lessons that the server and the workers know."""
    folder = tmp_path_factory.mktemp("lessons")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(OWN_FOLDERS, str(folder))
        yield folder


@pytest.fixture
def folder(lessons: Path) -> Iterator[Path]:
    """A lesson that is right."""
    folder = lessons / "mine"
    write_skeleton(folder)
    yield folder
    shutil.rmtree(folder)


def test_a_lesson_of_ones_own_is_in_the_course_and_is_read_anew_when_it_changes(owner: APIClient, folder: Path):
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


def test_a_lesson_with_half_of_its_texts_can_be_looked_at(owner: APIClient, folder: Path, io_worker: Worker):
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

    carry_out(owner, session, stop["do"])
    asked = f"/api/v1/sessions/{session}/lesson/hints/?stop=where-will-it-go"
    assert owner.get(asked).json()["hints"] == []
    carry_out(owner, session, stop["reveal"])
    assert [hint["words"]["en"] for hint in owner.get(asked).json()["hints"]] == ["<p>Look: it is there.</p>\n"]
    assert owner.get(f"/api/v1/sessions/{session}/lesson/hints/?stop=no-such").status_code == 404

    (folder / "en.md").write_text(english + "\n")
    assert owner.get(f"/api/v1/sessions/{session}/lesson/").json()["changed"] is True
