"""Checks a lesson that could be read: missing texts and false claims."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from schedviz.engine import ConfigurationError
from schedviz.lessons.errors import Fault
from schedviz.lessons.expressions import NOTHING, ExpressionError
from schedviz.lessons.lesson import LANGUAGES, Lesson, Stop
from schedviz.lessons.player import differing_stops, hint_holds, play
from schedviz.lessons.reading import PLAN
from schedviz.lessons.stop_state import StopState
from schedviz.lessons.texts import IN_RELEASE, TAKE_HOME, StopText, Text

MIN_FACTS, MAX_FACTS = 3, 5


def faults_of(lesson: Lesson) -> list[Fault]:
    """The errors in a lesson's texts and claims; empty if it may ship."""
    return [*_faults_of_texts(lesson), *_faults_of_claims(lesson), *_faults_of_differences(lesson)]


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
        yield from (Fault(text.file, 0, message) for message in _faults_of_lines(text, set(lesson.plan.differences)))


def _faults_of_lines(text: Text, releases: AbstractSet[str]) -> Iterator[str]:
    """The errors in a text's lines about other releases; the plan has those in `releases`."""
    for release in sorted(releases - text.differences.keys()):
        yield f"`differences` has {release}: expected the section `## {IN_RELEASE}{release}`"
    for release in sorted(text.differences.keys() - releases):
        yield f"there is a section `## {IN_RELEASE}{release}`, but `differences` of {PLAN} does not have {release}"
    for release, line in text.differences.items():
        if not line or "\n" in line:
            yield f"`## {IN_RELEASE}{release}` has {len(line.splitlines())} lines; expected one"


def _faults_of_text(text: Text, stops: dict[str, Stop]) -> Iterator[Fault]:
    if text.title == NOTHING:
        yield Fault(text.file, 1, "the lesson has no title yet")
    if not text.about:
        yield Fault(text.file, 1, "say under the title what the lesson is about")
    if not MIN_FACTS <= len(text.take_home) <= MAX_FACTS:
        yield Fault(text.file, 0, f"`## {TAKE_HOME}` has {len(text.take_home)} items; expected {MIN_FACTS} to {MAX_FACTS}")
    for name in stops.keys() - text.stops.keys():
        yield Fault(text.file, 0, f"the stop `{name}` has no text")
    for name, stop_text in text.stops.items():
        if name not in stops:
            yield Fault(text.file, stop_text.line, f"`{name}` is not a stop of {PLAN}")
        else:
            yield from (Fault(text.file, stop_text.line, f"{name}: {message}") for message in _what_is_missing(stop_text, stops[name]))


def _what_is_missing(stop_text: StopText, stop: Stop) -> Iterator[str]:
    if not stop_text.text:
        yield "nothing is said"
    question = stop.question
    if question is None and stop_text.question:
        yield f"there is a question, but {PLAN} has none"
    if question is not None:
        if not stop_text.question or not stop_text.answer:
            yield "its question needs the parts `### Question` and `### Answer`"
        for option in question.options:
            if option not in stop_text.options:
                yield f"the option `{option}` has no text"
        for option in stop_text.options.keys() - set(question.options):
            yield f"`{option}` is not an option of {PLAN}"
    hints = {hint.id for hint in stop.hints}
    for hint in sorted(hints - stop_text.live_hints.keys()):
        yield f"the hint `{hint}` has no text: expected the part `### Hint {hint}`"
    for hint in sorted(stop_text.live_hints.keys() - hints):
        yield f"`{hint}` is not a hint of {PLAN}"
    for placeholder in sorted((stop_text.placeholders_before() | (stop_text.placeholders_after() - {"answer"})) - stop.facts.keys()):
        yield f"{{{placeholder}}} is not a fact of the stop" if placeholder != "answer" else "`{answer}` is used before the answer is known"


def _faults_of_claims(lesson: Lesson) -> Iterator[Fault]:
    played: list[StopState] = []
    try:
        played.extend(play(lesson))
    except (ExpressionError, ConfigurationError) as error:
        after = lesson.plan.stops[len(played)].id
        yield Fault(PLAN, 0, f"{after}: {error}")
    for state in played:
        yield from (Fault(PLAN, 0, f"{state.stop.id}: {message}") for message in _false_claims(state))
        yield from (Fault(PLAN, 0, f"{state.stop.id}: {message}") for message in _hints_never_shown(lesson, state.stop))
        for text in lesson.texts.values():
            if (stop_text := text.stops.get(state.stop.id)) is not None:
                yield from (Fault(text.file, stop_text.line, f"{state.stop.id}: {message}") for message in _empty_facts(state, stop_text))


def _faults_of_differences(lesson: Lesson) -> Iterator[Fault]:
    for release, claimed in lesson.plan.differences.items():
        if release == lesson.plan.release:
            yield Fault(PLAN, 0, f"`differences` has {release}, which is the lesson's own release")
            continue
        try:
            stops = differing_stops(lesson, release)
        except (ExpressionError, ConfigurationError) as error:
            yield Fault(PLAN, 0, f"in {release}: {error}")
            continue
        if stops != claimed:
            yield Fault(PLAN, 0, f"in {release}, answers or checks are different at the stops {stops}, and not {claimed}")


def _empty_facts(state: StopState, stop_text: StopText) -> Iterator[str]:
    for facts, placeholders, when in (
        (state.facts, stop_text.placeholders_before(), "on arrival"),
        (state.facts_after, stop_text.placeholders_after(), "once the answer is known"),
    ):
        for placeholder in sorted(placeholders):
            if facts.get(placeholder) == NOTHING:
                yield f"{{{placeholder}}} has no value {when}"


def _hints_never_shown(lesson: Lesson, stop: Stop) -> Iterator[str]:
    for hint in stop.hints:
        try:
            if not hint_holds(lesson, stop, hint):
                when = "after its commands" if hint.after else "on arrival or at the end of the stop"
                yield f"the hint `{hint.id}` is never shown: `{hint.when}` is not true {when}"
        except ExpressionError as error:
            yield f"the hint `{hint.id}`: {error}"


def _false_claims(state: StopState) -> Iterator[str]:
    question = state.stop.question
    if question is not None:
        if state.answer is None:
            yield f"the answer `{question.answer}` has no value"
        elif question.ask == "choice" and str(state.answer) not in question.options:
            yield f"the answer is {state.answer!r}, which is none of the options"
    for checked in state.checks:
        if not checked.holds:
            yield f"`{checked.claim.that}` is {checked.found!r}, and not {checked.claim.equals!r}"
    if question is None and not state.checks:
        yield "it claims nothing: expected a question or a check"
