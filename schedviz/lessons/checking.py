"""Checks a lesson that could be read: missing texts and false claims."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine import ConfigurationError
from schedviz.lessons.errors import Fault
from schedviz.lessons.expressions import NOTHING, ExpressionError
from schedviz.lessons.lesson import LANGUAGES, Lesson, Stop
from schedviz.lessons.player import hint_holds, play
from schedviz.lessons.reading import PLAN
from schedviz.lessons.stop_state import Played
from schedviz.lessons.texts import TAKE_HOME, StopText, Text

FEWEST_FACTS, MOST_FACTS = 3, 5


def faults_of(lesson: Lesson) -> list[Fault]:
    """The errors in a lesson's texts and claims; empty if it may ship."""
    return [*_faults_of_texts(lesson), *_faults_of_claims(lesson)]


def _faults_of_texts(lesson: Lesson) -> Iterator[Fault]:
    stops = {stop.id: stop for stop in lesson.plan.stops}
    if len(stops) < len(lesson.plan.stops):
        yield Fault(PLAN, 0, "two stops have the same id")
    for language in LANGUAGES:
        text = lesson.texts.get(language)
        if text is None:
            yield Fault(f"{language}.md", 0, f"the lesson has no text in {language}")
            continue
        yield from _faults_of_text(text, stops)


def _faults_of_text(text: Text, stops: dict[str, Stop]) -> Iterator[Fault]:
    if text.title == NOTHING:
        yield Fault(text.file, 1, "the lesson has no title yet")
    if not text.about:
        yield Fault(text.file, 1, "say under the title what the lesson is about")
    if not FEWEST_FACTS <= len(text.take_home) <= MOST_FACTS:
        yield Fault(text.file, 0, f"`## {TAKE_HOME}` has {len(text.take_home)} items; expected {FEWEST_FACTS} to {MOST_FACTS}")
    for name in stops.keys() - text.stops.keys():
        yield Fault(text.file, 0, f"the stop `{name}` is not told")
    for name, told in text.stops.items():
        if name not in stops:
            yield Fault(text.file, told.line, f"`{name}` is no stop of {PLAN}")
        else:
            yield from (Fault(text.file, told.line, f"{name}: {message}") for message in _what_is_missing(told, stops[name]))


def _what_is_missing(told: StopText, stop: Stop) -> Iterator[str]:
    if not told.text:
        yield "nothing is said"
    question = stop.question
    if question is None and told.question:
        yield f"a question is told, and {PLAN} has none"
    if question is not None:
        if not told.question or not told.answer:
            yield "its question needs the parts `### Question` and `### Answer`"
        for option in question.options:
            if option not in told.options:
                yield f"the option `{option}` has no words"
        for option in told.options.keys() - set(question.options):
            yield f"`{option}` is no option of {PLAN}"
    hints = {hint.id for hint in stop.hints}
    for hint in sorted(hints - told.live_hints.keys()):
        yield f"the hint `{hint}` has no words: expected the part `### Hint {hint}`"
    for hint in sorted(told.live_hints.keys() - hints):
        yield f"`{hint}` is no hint of {PLAN}"
    for place in sorted((told.places_before() | (told.places_after() - {"answer"})) - stop.facts.keys()):
        yield f"{{{place}}} is no fact of the stop" if place != "answer" else "the answer is told before it is known"


def _faults_of_claims(lesson: Lesson) -> Iterator[Fault]:
    played: list[Played] = []
    try:
        played.extend(play(lesson))
    except (ExpressionError, ConfigurationError) as error:
        after = lesson.plan.stops[len(played)].id
        yield Fault(PLAN, 0, f"{after}: {error}")
    for one in played:
        yield from (Fault(PLAN, 0, f"{one.stop.id}: {message}") for message in _what_does_not_hold(one))
        yield from (Fault(PLAN, 0, f"{one.stop.id}: {message}") for message in _hints_that_never_hold(lesson, one.stop))
        for text in lesson.texts.values():
            if (said := text.stops.get(one.stop.id)) is not None:
                yield from (Fault(text.file, said.line, f"{one.stop.id}: {message}") for message in _what_is_told_of_nothing(one, said))


def _what_is_told_of_nothing(played: Played, said: StopText) -> Iterator[str]:
    for facts, places, when in (
        (played.facts, said.places_before(), "on arrival"),
        (played.facts_after, said.places_after(), "once the answer is known"),
    ):
        for place in sorted(places):
            if facts.get(place) == NOTHING:
                yield f"{{{place}}} is nothing {when}"


def _hints_that_never_hold(lesson: Lesson, stop: Stop) -> Iterator[str]:
    for hint in stop.hints:
        try:
            if not hint_holds(lesson, stop, hint):
                when = "after its commands" if hint.after else "on arrival or at the end of the stop"
                yield f"the hint `{hint.id}` is never said: `{hint.when}` is not true {when}"
        except ExpressionError as error:
            yield f"the hint `{hint.id}`: {error}"


def _what_does_not_hold(played: Played) -> Iterator[str]:
    question = played.stop.question
    if question is not None:
        if played.answer is None:
            yield f"the answer `{question.answer}` is nothing"
        elif question.ask == "choice" and str(played.answer) not in question.options:
            yield f"the answer is {played.answer!r}, which is none of the options"
    for checked in played.checks:
        if not checked.holds:
            yield f"`{checked.claim.that}` is {checked.found!r}, and not {checked.claim.equals!r}"
    if question is None and not played.checks:
        yield "it claims nothing: expected a question or a check"
