"""Errors in a lesson are reported with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schedviz.lessons import LessonError, read_lesson
from schedviz.lessons.checking import faults_of
from schedviz.lessons.player import play
from schedviz.lessons.skeleton import write_skeleton

Change = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    write_skeleton(folder)
    return folder


@pytest.fixture
def change(folder: Path) -> Change:
    def replace(file: str, old: str, new: str) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return replace


def wrong(folder: Path) -> list[str]:
    return [str(fault) for fault in faults_of(read_lesson(folder))]


def refused(folder: Path) -> str:
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    return str(caught.value)


def test_a_new_lesson_has_no_faults(folder: Path):
    assert wrong(folder) == []


def test_the_answer_is_evaluated_on_the_engine(folder: Path):
    first, second = play(read_lesson(folder))
    assert first.answer is None
    assert (second.answer, second.facts_after["looked-at"]) == ("large", "2")
    assert second.facts["looked-at"] == "–", "no pod has been scheduled yet"
    assert first.revealed == first.arrived < second.arrived < second.revealed


def test_a_false_claim_is_a_fault(folder: Path, change: Change):
    change("lesson.yaml", 'node", is: large', 'node", is: small')
    assert wrong(folder) == ["lesson.yaml: where-will-it-go: `state.cache.podStates.\"default/web\".node` is 'large', and not 'small'"]


def test_true_is_not_equal_to_1(folder: Path, change: Change):
    change("lesson.yaml", 'that: "sort(state.cache.list[].name)", is: [large, small]', 'that: "length(state.cache.list) == `2`", is: 1')
    assert wrong(folder) == ["lesson.yaml: two-nodes: `length(state.cache.list) == `2`` is True, and not 1"]


def test_an_invalid_expression_is_a_fault(folder: Path, change: Change):
    change("lesson.yaml", "answer: cycle.node", "answer: cycle.[")
    (fault,) = wrong(folder)
    assert fault.startswith("lesson.yaml: where-will-it-go: `cycle.[`: ")


def test_a_missing_text_is_a_fault(folder: Path):
    (folder / "zh-CN.md").unlink()
    assert wrong(folder) == ["zh-CN.md: the lesson has no text in zh-CN"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{looked-at}", "{looked-up}", "en.md:8: where-will-it-go: {looked-up} is not a fact of the stop"),
        ("## two-nodes\n", "## one-node\n", "en.md: the stop `two-nodes` has no text"),
        ("### Answer\n", "", "en.md:8: where-will-it-go: its question needs the parts `### Question` and `### Answer`"),
        ("- By default, the emptier node wins.\n", "", "en.md: `## Take home` has 2 items; expected 3 to 5"),
    ],
)
def test_an_incomplete_text_has_faults(folder: Path, change: Change, old: str, new: str, message: str):
    change("en.md", old, new)
    assert message in wrong(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ask: node\n", "ask: why\n", "lesson.yaml:23: stops[1].question.ask: invalid enum value 'why'"),
        ("op: cycle", "op: fly", "lesson.yaml:26: stops[1].reveal[0].op: invalid value 'fly'"),
        ("cpu: 8", "cpus: 8", "lesson.yaml:10: `cpus` is not a member of a short form; expected one of annotations, cpu, "),
        ("cpu: 8", "cpu: much", "lesson.yaml:10: "),
        ("minutes: 3", "minutes: 90", "lesson.yaml:4: minutes: expected `int` <= 10"),
        ("part: workflow", "part: [", "it is not YAML: "),
    ],
)
def test_an_invalid_plan_is_refused(folder: Path, change: Change, old: str, new: str, message: str):
    change("lesson.yaml", old, new)
    assert message in refused(folder)


HINT = '    hints:\n      - {id: cordoned, when: "length(events) > `0`", after: [{op: cordon, node: small}]}\n'


def test_a_hint_needs_a_text_and_must_be_shown_after_its_commands(folder: Path, change: Change):
    change("lesson.yaml", "    reveal:\n", HINT + "    reveal:\n")
    assert wrong(folder) == [
        f"{language}.md:8: where-will-it-go: the hint `cordoned` has no text: expected the part `### Hint cordoned`"
        for language in ("en", "zh-CN")
    ]
    for language in ("en", "zh-CN"):
        change(f"{language}.md", "### Hint\n", "### Hint cordoned\nThere.\n\n### Hint\n")
    assert wrong(folder) == []
    change("lesson.yaml", "> `0`", "> `1000`")
    (fault,) = wrong(folder)
    assert "the hint `cordoned` is never shown: `length(events) > `1000`` is not true after its commands" in fault


def test_a_comment_is_not_shown(folder: Path, change: Change):
    change("en.md", "A pod was created that requests one CPU. It would fit on either node.", "<!-- To be\nwritten. -->")
    assert wrong(folder) == ["en.md:8: where-will-it-go: nothing is said"]


def test_an_unknown_part_of_a_text_is_refused(folder: Path, change: Change):
    change("en.md", "### Hint", "### Hunt")
    assert refused(folder) == "en.md:17: `Hunt` is no part of a stop; expected one of Question, Answer, Hint, Notes"


def test_a_folder_without_a_plan_is_refused(tmp_path: Path):
    assert refused(tmp_path).startswith("lesson.yaml: there is no lesson.yaml in ")


def test_an_empty_fact_is_omitted(folder: Path, change: Change):
    change("en.md", "It would fit on either node.", "It would fit on all {looked-at}.")
    assert wrong(folder) == ["en.md:8: where-will-it-go: {looked-at} has no value on arrival"]


def test_the_question_does_not_reveal_the_answer(folder: Path, change: Change):
    change("en.md", "On which node will it be placed?", "On which node will it be placed, {answer}?")
    assert wrong(folder) == ["en.md:8: where-will-it-go: `{answer}` is used before the answer is known"]
