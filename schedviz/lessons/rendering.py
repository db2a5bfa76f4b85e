"""Renders texts of lessons as HTML. HTML in a text is escaped, because lessons may have any author."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt

from schedviz.lessons.expressions import as_text
from schedviz.lessons.stop_state import StopState
from schedviz.lessons.texts import StopText, fill

#: A line end inside a Chinese sentence, where HTML would show a space.
_SOFT_BREAK = re.compile(
    r"(?<=[\u3000-\u303f\uff00-\uffef])\n(?=[^\s\-|#`>*\d])|(?<=[\u4e00-\u9fff])\n(?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])"
)


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def html(markdown: str) -> str:
    """A text as paragraphs."""
    return str(_markdown().render(_SOFT_BREAK.sub("", markdown)))


def html_line(markdown: str) -> str:
    """A text without a surrounding paragraph."""
    return str(_markdown().renderInline(markdown))


def answer_words(state: StopState, text: StopText) -> str:
    """The answer in the text's language: the wording of the option, for a multiple choice."""
    answer = as_text(state.answer)
    return text.options.get(answer, answer)


def answer_html(state: StopState, text: StopText) -> str:
    """The text after the answer. An option's wording at its beginning is capitalized."""
    answer_text = answer_words(state, text)
    if text.options and text.answer.startswith("**{answer}"):
        answer_text = answer_text[:1].upper() + answer_text[1:]
    return html(fill(text.answer, {**state.facts_after, "answer": answer_text}))


def text_html(state: StopState, text: StopText) -> str:
    """The text on arrival."""
    return html(fill(text.text, state.facts))


def question_html(state: StopState, text: StopText) -> str:
    return html(fill(text.question, state.facts))


def hint_html(state: StopState, text: StopText) -> str:
    return html(fill(text.hint, state.facts))
