"""`schedviz lesson new|check|run`."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from schedviz.cli.lesson import lesson


def invoke(*words: str) -> Result:
    return CliRunner().invoke(lesson, list(words))


def test_a_new_lesson_passes_the_check(tmp_path: Path):
    folder = str(tmp_path / "mine")
    assert invoke("new", folder).exit_code == 0
    result = invoke("check", folder)
    assert (result.exit_code, result.output) == (0, "mine: 2 stops, 3 claims hold\n")


def test_an_existing_folder_is_not_overwritten(tmp_path: Path):
    result = invoke("new", str(tmp_path))
    assert result.exit_code == 1
    assert "already exists; nothing was written" in result.output


def test_a_wrong_claim_exits_with_1_and_an_unreadable_plan_with_2(tmp_path: Path):
    folder = tmp_path / "mine"
    invoke("new", str(folder))
    plan = folder / "lesson.yaml"
    plan.write_text(plan.read_text().replace("is: large", "is: small"))
    assert invoke("check", str(folder)).exit_code == 1
    plan.write_text("part: [")
    result = invoke("check", str(folder))
    assert result.exit_code == 2
    assert result.output.startswith("mine/lesson.yaml:1: it is not YAML")


def test_a_lesson_runs_in_the_terminal_in_either_language():
    english, chinese = invoke("run", "the-list", "--terminal"), invoke("run", "the-list", "--terminal", "--language", "zh-CN")
    assert (english.exit_code, chinese.exit_code) == (0, 0)
    assert "The list and its generations" in english.output
    assert "链表" in chinese.output
    assert "In v1.36: Nothing in this lesson is different." in english.output


def test_an_unknown_lesson_is_refused():
    result = invoke("run", "no-such")
    assert result.exit_code == 1
    assert 'No folder and no lesson is named "no-such"' in result.output
