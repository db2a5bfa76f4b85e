"""Every phrase has a Chinese translation with the same values; the English text is the template with its values."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterator
from pathlib import Path

from schedviz.explain.changes.change import (
    CONSEQUENCES,
    CREATED_AGAIN,
    IF_ACCURATE,
    INTENTIONAL,
    NOT_CREATED_AGAIN,
    OF_ALL_NODES,
    ON_CONTROL_PLANE,
    REQUIRED_ON_PURPOSE,
)
from schedviz.explain.doctor import nominations
from schedviz.explain.messages import reasons
from schedviz.explain.reason_tables import node_groups
from schedviz.lessons import course
from schedviz.samples import samples
from schedviz.samples.cases import cases
from schedviz.trace.phrase import counted, phrase
from schedviz.web.api.problem_details import TITLES

ROOT = Path(__file__).parents[2]
CHINESE: dict[str, str] = json.loads((ROOT / "frontend/src/i18n/messages/zh-CN.explain.json").read_text("utf-8"))


def templates() -> Iterator[str]:
    """All phrases in the source, the tables whose rows become phrases, and sentences without values."""
    for path in sorted(path for package in ("explain", "ingest", "trace") for path in (ROOT / "schedviz" / package).rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("phrase", "counted"):
                words = [word.value for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
                yield from words
            if isinstance(call, ast.IfExp) and path.parent.name == "changes":
                yield from (side.value for side in (call.body, call.orelse) if isinstance(side, ast.Constant) and "{" in str(side.value))
    for meaning in (*(meaning for _, meaning in reasons.TABLE), reasons.UNKNOWN):
        yield meaning.template
        yield from meaning.causes
        yield from filter(None, (*meaning.of_nodes, meaning.of_none))
        yield from filter(None, (meaning.advice, meaning.of_named, meaning.of_one))
    yield from (*CONSEQUENCES.values(), OF_ALL_NODES, ON_CONTROL_PLANE, IF_ACCURATE, INTENTIONAL, CREATED_AGAIN, NOT_CREATED_AGAIN)
    yield from (REQUIRED_ON_PURPOSE, "`{node}`", "`{first}` and `{second}`")
    yield from node_groups.SENTENCES
    yield from (nominations._SILENT, nominations._UNKNOWN, nominations._FIX)
    yield from (
        "{first}, {next}",
        "{first} and {next}",
        "{first}; {next}",
        "{nodes} is rejected for another reason",
        "{nodes} are rejected for another reason",
        "{names} and {count} more",
    )
    yield from (sample.description for sample in samples())
    yield from (text for case in cases() for text in (case.title, case.seen, case.fix))
    yield from TITLES.values()
    yield from (lesson.texts["en"].title for lesson in course().lessons)


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_phrase_has_a_chinese_translation_with_the_same_values() -> None:
    results = set(templates())
    assert len(results) > 200
    assert sorted(results - CHINESE.keys()) == []
    assert {english: chinese for english, chinese in CHINESE.items() if placeholders(english) != placeholders(chinese)} == {}


def test_sessions_of_lessons_have_the_titles_of_their_lessons_in_chinese() -> None:
    titles = {lesson.texts["en"].title: lesson.texts["zh-CN"].title for lesson in course().lessons}
    assert {title: CHINESE[title] for title in titles} == titles


def test_a_phrase_contains_numbers_and_other_phrases() -> None:
    sentence = phrase(
        "{state}: none of {nodes} fits", state=phrase("{pod} is pending", pod="a/b"), nodes=counted(1200, "one", "{count} nodes")
    )
    assert sentence.text == "a/b is pending: none of 1,200 nodes fits"
