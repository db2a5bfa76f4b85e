"""Every shipped lesson is checked against the engine, in both languages."""

from __future__ import annotations

import pytest

from schedviz.lessons import LANGUAGES, UnknownLessonError, course, find
from schedviz.lessons.checking import faults_of
from schedviz.lessons.lesson import Lesson

LESSONS = course().lessons


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_lesson_has_only_true_claims_and_complete_texts(lesson: Lesson):
    assert [str(fault) for fault in faults_of(lesson)] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_ends_with_the_same_number_of_facts_in_each_language(lesson: Lesson):
    assert len({len(lesson.texts[language].take_home) for language in LANGUAGES}) == 1


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_names_upstream_symbols(lesson: Lesson):
    assert lesson.plan.upstream


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_of_v1_27_1_lists_what_v1_36_does_differently(lesson: Lesson):
    # Some lessons of v1.36 also list differences in v1.27.1.
    listed = list(lesson.plan.differences)
    assert listed == ["v1.36"] if lesson.plan.release == "v1.27.1" else listed in ([], ["v1.27.1"])


def test_lessons_about_v1_36_only_are_in_a_separate_part():
    of_both = {lesson.name for lesson in LESSONS if lesson.plan.release == "v1.36" and "v1.27.1" in lesson.plan.differences}
    assert of_both == {"one-pod-end-to-end", "weights-and-ties", "only-in-memory"}
    assert {lesson.plan.part for lesson in LESSONS if lesson.plan.release == "v1.36" and lesson.name not in of_both} == {"newer"}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_notes_for_the_presenter_in_each_language(lesson: Lesson):
    for language in LANGUAGES:
        assert any(stop.notes for stop in lesson.texts[language].stops.values()), language


def test_no_two_lessons_have_the_same_position():
    places = [(lesson.plan.part, lesson.plan.order) for lesson in LESSONS]
    assert len(places) == len(set(places))


def test_a_lesson_is_found_by_its_name():
    assert find(LESSONS[0].name) is LESSONS[0]
    with pytest.raises(UnknownLessonError, match='There is no lesson "no-such"'):
        find("no-such")
