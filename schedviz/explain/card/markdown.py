"""A card as Markdown, to paste into an issue or a chat. Nothing in names and messages is taken as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from schedviz.explain.card.model import Card, Fix, Line, Reason

#: Nodes and pods named per line.
_NAMED: Final = 5
#: Characters that Markdown, HTML or a chat would interpret, and those that make a link of an address.
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|@~&]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def markdown_of(card: Card) -> str:
    """The sentence, the reasons with their numbers and nodes, and the changes that would place the pod."""
    lines = [f"### {_title(card)}"]
    if card.subject:
        lines += ["", text(card.sentence)]
    if card.message:
        lines += ["", *block(card.message)]
    since = f" (unschedulable since {text(card.said_since)})" if card.said_since else ""
    if card.is_said:
        lines += ["", f"The cluster's scheduler reported the same message{since}."]
    elif card.said:
        lines += ["", f"The cluster's scheduler reported{since}:", "", *block(card.said)]
    if card.disagreement:
        lines += ["", f"They differ: {text(card.disagreement)}."]
    for finding in card.findings:
        lines += ["", f"**Doctor**: {text(finding)}"]
    for reason in card.reasons:
        lines += _reason(reason)
    if card.fixes:
        lines += ["", "**What would place it** (each verified by a dry run)", ""]
        for fix in card.fixes:
            lines += _fix(fix)
    if card.origin:
        lines += ["", f"_{text(card.origin)}, explained by schedviz_"]
    return "\n".join(lines) + "\n"


def _title(card: Card) -> str:
    return f"Why {code(card.subject)} is {card.standing}" if card.subject else text(card.sentence)


def _reason(reason: Reason) -> Iterable[str]:
    yield ""
    times = f"{reason.count} × " if reason.count else ""
    yield f"**{times}{text(reason.reason)}**" + (f" ({reason.plugin})" if reason.plugin else "")
    if reason.lines or reason.nodes or reason.todo:
        yield ""
    for line in reason.lines:
        yield f"- {_line(line)}"
    if reason.nodes:
        yield f"- on {named(reason.nodes)}"
    if reason.todo:
        yield f"- **To do:** {with_code(reason.todo)}"


def _line(line: Line) -> str:
    if not line.names:
        return text(line.text)
    return named(line.names) + (f": {text(line.text)}" if line.text else "")


def _fix(fix: Fix) -> Iterable[str]:
    yield f"- {text(fix.what)}" + (f": {text(fix.effect)}" if fix.effect else "")
    yield from (f"  {code(command)}" for command in fix.commands)


def named(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(names) - _NAMED
    return ", ".join(code(name) for name in names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def text(value: str) -> str:
    """Words, in one line, in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(value.split()))


def with_code(value: str) -> str:
    """Words in one line whose parts between backticks are code."""
    return "".join(
        code(part) if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(" ".join(value.split()).split("`"))
    )


def code(value: str) -> str:
    """Words as inline code, in one line, with a fence that is longer than any run of backticks in them."""
    value = " ".join(value.splitlines())
    longest = max((len(run) for run in re.findall("`+", value)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if longest else ""
    return f"{fence}{padding}{value}{padding}{fence}"


def block(value: str) -> list[str]:
    """The lines of a code block."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", value)), default=0))
    return [fence, " ".join(value.split()), fence]
