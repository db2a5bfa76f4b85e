"""Texts of lessons as HTML. What is HTML in a text stays text: lessons may come from anybody."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt

from schedviz.lessons.asking import told
from schedviz.lessons.played import Played
from schedviz.lessons.texts import StopText, Text, fill


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def html(markdown: str) -> str:
    """A text, as paragraphs."""
    return str(_markdown().render(markdown))


def html_line(markdown: str) -> str:
    """A text without a paragraph around it."""
    return str(_markdown().renderInline(markdown))


def answer_words(played: Played, text: StopText) -> str:
    """The answer in the words of the language: those of the option, where it is one."""
    answer = told(played.answer)
    return text.options.get(answer, answer)


def answer_html(played: Played, text: StopText) -> str:
    """What is said once the answer is known."""
    return html(fill(text.answer, {**played.facts_after, "answer": answer_words(played, text)}))


def text_html(played: Played, text: StopText) -> str:
    """What is said on arrival."""
    return html(fill(text.text, played.facts))


def question_html(played: Played, text: StopText) -> str:
    return html(fill(text.question, played.facts))


def hint_html(played: Played, text: StopText) -> str:
    return html(fill(text.hint, played.facts))


def take_home_html(text: Text) -> list[str]:
    """The facts to take home, a line each."""
    return [html_line(fact) for fact in text.take_home]
