"""Lessons over REST: the course, a lesson's session, and answers, which are shown when the learner reaches their stop."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from schedviz.sessions.models import Session
from tests.conftest import Worker, until
from tests.sessions.conftest import work_off
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner")


def begin(client: APIClient, lesson: str) -> str:
    made = client.post("/api/v1/sessions/", {"lesson": lesson}, format="json")
    assert made.status_code == 201, made.content
    session = str(made.json()["id"])
    until(lambda: Session.objects.get(pk=session).status == Session.Status.READY)
    return session


def execute(client: APIClient, session: str, commands: list[dict[str, Any]]) -> None:
    for command in commands:
        assert client.post(f"/api/v1/sessions/{session}/commands/", command, format="json").status_code == 202
    work_off(Session.objects.get(pk=session).pk)


def test_the_course_is_listed_in_both_languages(owner: APIClient):
    parts = {part["part"]: part["lessons"] for part in owner.get("/api/v1/lessons/").json()["parts"]}
    listed = next(lesson for lesson in parts["snapshot"] if lesson["name"] == "the-list")
    assert listed["title"] == {"en": "The list and its generations", "zh-CN": "链表与 generation"}
    assert (listed["session"], listed["done"], listed["release"]) == (None, 0, "v1.27.1")


def test_a_session_on_the_path_of_a_lesson_is_at_the_right_stop(owner: APIClient, io_worker: Worker):
    session = begin(owner, "the-list")
    stops = owner.get(f"/api/v1/sessions/{session}/lesson/").json()["stops"]

    for stop in stops:
        execute(owner, session, stop["do"])
        assert Session.objects.get(pk=session).event == stop["arrived"]
        execute(owner, session, stop["reveal"])
        assert Session.objects.get(pk=session).event == stop["revealed"]

    (listed,) = [one for part in owner.get("/api/v1/lessons/").json()["parts"] for one in part["lessons"] if one["session"]]
    assert (listed["name"], listed["session"], listed["done"]) == ("the-list", session, len(stops))


def test_a_lesson_of_v1_36_makes_a_session_of_v1_36(owner: APIClient, io_worker: Worker):
    session = begin(owner, "in-flight-events")
    lesson = owner.get(f"/api/v1/sessions/{session}/lesson/").json()
    assert (lesson["release"], lesson["differences"]) == ("v1.36", [])
    assert owner.get(f"/api/v1/sessions/{session}/").json()["release"] == "v1.36"

    for stop in lesson["stops"]:
        execute(owner, session, [*stop["do"], *stop["reveal"]])
        assert Session.objects.get(pk=session).event == stop["revealed"]


def test_a_lesson_of_v1_27_1_has_a_line_about_v1_36(owner: APIClient, io_worker: Worker):
    session = begin(owner, "backoff-doubles")
    (difference,) = owner.get(f"/api/v1/sessions/{session}/lesson/").json()["differences"]
    assert (difference["release"], difference["stops"]) == ("v1.36", ["once", "twice", "five-times"])
    assert difference["words"]["en"].startswith("A changed label does not requeue the pod")
    assert "标签变化不会使 Pod 重新入队" in difference["words"]["zh-CN"]


def test_a_cluster_without_pods_is_accepted_for_a_lesson(owner: APIClient, io_worker: Worker):
    session = begin(owner, "the-list")
    assert owner.get(f"/api/v1/sessions/{session}/").json()["report"]["warnings"] == []


def test_an_answer_is_revealed_once_the_session_reaches_it(owner: APIClient, io_worker: Worker):
    session = begin(owner, "the-list")
    stop_with_question = owner.get(f"/api/v1/sessions/{session}/lesson/").json()["stops"][1]
    assert stop_with_question["question"]["ask"] == "number"
    assert stop_with_question["answer"] is None

    seen = owner.get(f"/api/v1/sessions/{session}/lesson/")["ETag"]
    assert owner.get(f"/api/v1/sessions/{session}/lesson/", headers={"If-None-Match": seen}).status_code == 304

    execute(owner, session, stop_with_question["reveal"])

    stored = owner.get(f"/api/v1/sessions/{session}/lesson/").json()["stops"][1]["answer"]
    assert stored["value"] == 4
    assert stored["words"]["en"].startswith("<p><strong>4</strong>")


def test_a_fork_stays_in_the_lesson(owner: APIClient, io_worker: Worker):
    session = begin(owner, "the-list")
    fork = owner.post(f"/api/v1/sessions/{session}/branches/", {}, format="json").json()["id"]
    assert owner.get(f"/api/v1/sessions/{fork}/lesson/").json()["name"] == "the-list"


def test_an_unknown_lesson_gets_404(owner: APIClient, people: People):
    answer = owner.post("/api/v1/sessions/", {"lesson": "no-such"}, format="json")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == '$.lesson: There is no lesson "no-such".'
    assert owner.get(f"/api/v1/sessions/{people.session.pk}/lesson/").status_code == 404


def test_the_course_requires_a_login(people: People):
    assert people.client("anonymous").get("/api/v1/lessons/").status_code == 401


# --- Progress


def test_progress_is_stored_for_the_user_and_outlives_the_session(owner: APIClient, people: People, io_worker: Worker):
    session = begin(owner, "the-list")
    stored = {"stop": "first-snapshot", "session": session, "answers": {"first-snapshot": 3}}
    assert owner.put("/api/v1/lessons/the-list/progress/", stored, format="json").json() == {**stored, "finished": False}
    assert owner.get(f"/api/v1/sessions/{session}/lesson/").json()["progress"] == {**stored, "finished": False}

    assert owner.put("/api/v1/lessons/the-list/progress/", {"stop": "free", "finished": True}, format="json").json()["finished"]
    assert owner.delete(f"/api/v1/sessions/{session}/").status_code == 204
    assert owner.put("/api/v1/lessons/the-list/progress/", {"stop": "four-nodes"}, format="json").json()["finished"], "once is for ever"

    listed = {one["name"]: one for part in owner.get("/api/v1/lessons/").json()["parts"] for one in part["lessons"]}
    assert (listed["the-list"]["session"], listed["the-list"]["stop"], listed["the-list"]["finished"]) == (None, "four-nodes", True)
    other = people.client("stranger").get("/api/v1/lessons/").json()["parts"]
    assert not any(one["finished"] for part in other for one in part["lessons"])


@pytest.mark.parametrize(
    ("lesson", "progress", "status"),
    [("no-such", {"stop": "a"}, 404), ("the-list", {"stop": "a", "session": "x"}, 400), ("the-list", {"answers": {}}, 400)],
)
def test_invalid_progress_is_refused(owner: APIClient, lesson: str, progress: dict[str, Any], status: int):
    assert owner.put(f"/api/v1/lessons/{lesson}/progress/", progress, format="json").status_code == status
