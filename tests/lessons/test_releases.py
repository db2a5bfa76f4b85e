"""Lessons of v1.36: their release, the names in their expressions, and the section about v1.36 in lessons of v1.27.1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schedviz.lessons import LessonError, read_lesson
from schedviz.lessons.checking import faults_of
from schedviz.lessons.player import differing_stops, play
from schedviz.lessons.skeleton import write_skeleton

STOPS = """\
stops:
  - id: requeued
    do:
      - {op: create, object: {pod: web, cpu: 4}}
      - {op: cycle}
    question:
      ask: choice
      answer: "state.queue.backoffQ && 'backoff' || 'unschedulable'"
      options: [backoff, unschedulable]
    reveal:
      - {op: update, object: {pod: web, cpu: 4, labels: {changed: "1"}}}
"""
TEXT = """\
# A title
What it is about.

## requeued
A label of the pod changes.

### Question
Where is the pod?

- `backoff`: in backoffQ
- `unschedulable`: among the unschedulable pods

### Answer
**{answer}**.

## Take home
- One.
- Two.
- Three.
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a lesson whose answer depends on the release: a changed label requeues the pod in v1.27.1 only."""

    def written(head: str = "", *, stops: str = STOPS, text: str = TEXT) -> Path:
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "lesson.yaml").write_text(f"part: queue\norder: 50\nminutes: 3\n{head}cluster:\n  - {{node: small, cpu: 2}}\n\n{stops}")
        for language in ("en", "zh-CN"):
            (folder / f"{language}.md").write_text(text)
        return folder

    return written


def answers(folder: Path) -> list[object]:
    return [state.answer for state in play(read_lesson(folder))]


def wrong(folder: Path) -> set[str]:
    return {str(fault) for fault in faults_of(read_lesson(folder))}


def test_a_lesson_without_a_release_teaches_v1_27_1(write: Write):
    folder = write()
    assert read_lesson(folder).plan.release == "v1.27.1"
    assert "release" not in read_lesson(folder).settings
    assert answers(folder) == ["backoff"]


def test_a_lesson_teaches_the_release_in_its_plan(write: Write):
    folder = write("release: v1.36\n")
    assert read_lesson(folder).settings["release"] == "v1.36"
    assert answers(folder) == ["unschedulable"]


def test_a_release_that_is_not_simulated_is_rejected(write: Write):
    with pytest.raises(LessonError, match=r"lesson\.yaml:4: release: invalid enum value 'v1\.33'"):
        read_lesson(write("release: v1.33\n"))


def test_an_unknown_feature_gate_in_a_lesson_is_a_fault(write: Write):
    fails = "release: v1.36\nsettings: {featureGates: {NoSuchGate: true}}\n"
    assert any("NoSuchGate" in fault for fault in wrong(write(fails)))


def test_expressions_can_read_the_hints_and_gates_of_v1_36(write: Write):
    checks = """\
    check:
      - {that: "requeue[].[pod, event, strategy]", is: [[default/web, UnschedulablePodUpdatePodLabel, skip]]}
      - {that: clusterEvents, is: []}
      - {that: heldPreemptions, is: []}
      - {that: "state.queue.[inFlightPods, inFlightEvents]", is: [[], []]}
"""
    assert wrong(write("release: v1.36\n", stops=STOPS + checks)) == set()


def test_events_during_a_cycle_are_written_in_short_form(write: Write):
    stops = """\
stops:
  - id: requeued
    do:
      - {op: create, object: {pod: web, cpu: 4}}
    question: {ask: choice, answer: "requeue[0].inFlight && 'backoff' || 'unschedulable'", options: [backoff, unschedulable]}
    reveal:
      - {op: schedule, during: [{op: create, object: {node: large, cpu: 8}}]}
"""
    assert answers(write("release: v1.36\n", stops=stops)) == ["backoff"]


def test_the_same_commands_run_on_the_compared_release(write: Write):
    checks = '    check:\n      - {that: "other.state.queue.backoffQ[].pod", is: [default/web]}\n'
    assert wrong(write("release: v1.36\ncompareWith: v1.27.1\n", stops=STOPS + checks)) == set()


# --- Differences in another release


SECTION = "\n## In v1.36\nThe label does not requeue the pod.\n"


def test_stops_with_a_different_answer_are_found(write: Write):
    assert differing_stops(read_lesson(write()), "v1.36") == ["requeued"]


def test_differences_are_checked_on_the_other_release(write: Write):
    assert wrong(write("differences: {v1.36: [requeued]}\n", text=TEXT + SECTION)) == set()


def test_an_unlisted_difference_is_a_fault(write: Write):
    assert wrong(write("differences: {v1.36: []}\n", text=TEXT + SECTION)) == {
        "lesson.yaml: in v1.36, answers or checks are different at the stops ['requeued'], and not []"
    }


def test_a_release_with_differences_needs_its_section_in_each_language(write: Write):
    assert wrong(write("differences: {v1.36: [requeued]}\n")) == {
        f"{language}.md: `differences` has v1.36: expected the section `## In v1.36`" for language in ("en", "zh-CN")
    }


def test_a_section_about_a_release_needs_its_differences(write: Write):
    assert wrong(write(text=TEXT + SECTION)) == {
        f"{language}.md: there is a section `## In v1.36`, but `differences` of lesson.yaml does not have v1.36"
        for language in ("en", "zh-CN")
    }


def test_a_section_about_a_release_has_one_line(write: Write):
    two = TEXT + SECTION + "A second line.\n"
    assert wrong(write("differences: {v1.36: [requeued]}\n", text=two)) == {
        f"{language}.md: `## In v1.36` has 2 lines; expected one" for language in ("en", "zh-CN")
    }


def test_differences_from_the_lessons_own_release_are_a_fault(write: Write):
    assert "lesson.yaml: `differences` has v1.36, which is the lesson's own release" in wrong(
        write("release: v1.36\ndifferences: {v1.36: []}\n", text=TEXT + SECTION)
    )


def test_a_new_lesson_has_no_sections_about_other_releases(tmp_path: Path):
    write_skeleton(tmp_path / "new")
    assert read_lesson(tmp_path / "new").plan.differences == {}
