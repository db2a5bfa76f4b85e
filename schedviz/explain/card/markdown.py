"""A card as Markdown, to paste into an issue or a chat. Nothing in names and messages is taken as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from schedviz.explain.advice_label import ARROW, NEXT_STEP
from schedviz.explain.card.html import heading_of, quote_of
from schedviz.explain.card.model import CODE, Card, Fix, Line, Reason

#: Nodes and pods named per line.
_MAX_NAMES: Final = 5
#: Pods named that the card is about.
_MAX_SUBJECTS: Final = 20
#: Characters that Markdown, HTML or a chat would interpret, and those that make a link of an address.
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|@~&]|:(?=//)|(?<=www)\.)", re.IGNORECASE)

#: What notifies people, or appears in the history of another issue: @here, a@b.c, #12, a/b#12.
_REFERENCE: Final = re.compile(r"@|#\d")


def markdown_of(card: Card) -> str:
    """The sentence, the changes that would place the pod, the reasons with their numbers and nodes, and the messages."""
    lines = [f"### {_title(card)}"]
    if card.pods:
        lines += ["", named(card.pods, most=_MAX_SUBJECTS)]
    if card.subject and card.sentence:
        lines += ["", with_code(card.sentence)]
    if card.todo:
        lines += ["", f"**{NEXT_STEP}** {with_code(card.todo)}"]
    lines += [line for said in (card.note, card.conclusion) if said for line in ("", with_code(said))]
    for finding in card.findings:
        lines += ["", f"**Finding**: {with_code(finding)}"]
    if card.fixes:
        lines += ["", "**Changes that make the pod schedulable** (each verified by a dry run)", ""]
        for fix in card.fixes:
            lines += _fix(fix)
    for reason in card.reasons:
        lines += _reason(reason, card.unit, card.label_of(reason))
    if card.others:
        lines += ["", f"Also: {with_code(card.others)}."]
    lines += _messages(card)
    if card.origin:
        lines += ["", f"_{text(card.origin)}, explained by schedviz_"]
    return "\n".join(lines) + "\n"


def _messages(card: Card) -> Iterable[str]:
    if card.shown_message:
        yield from ("", *(("In the simulation:", "") if card.is_only_simulated else ()), *block(card.shown_message))
    since = f" (unschedulable since {text(card.said_since)})" if card.said_since else ""
    if card.matches_cluster_message:
        yield from ("", f"The cluster's scheduler reported the same message{since}.")
    elif card.said:
        yield from ("", f"In your cluster{since}:", "", *block(card.said))
    if card.disagreement:
        yield from ("", f"The simulation differs: {with_code(card.disagreement)}.")


def _title(card: Card) -> str:
    if card.pods:
        return f"Why {card.subject} are {card.standing}"
    return f"Why {code(card.subject)} is {card.standing}" if card.subject else with_code(card.sentence)


def _reason(reason: Reason, unit: str, label: str) -> Iterable[str]:
    yield ""
    source = f" ({reason.plugin})" if reason.plugin and reason.writer != reason.plugin else ""
    if quote := quote_of(reason, unit):
        yield f"**{with_code(heading_of(reason, unit))}**"
        yield ""
        yield f"- {reason.writer}: {code(quote)}{source}"
    elif unit == "nodes":
        # The plain sentence stands above all reasons.
        yield f"**{reason.writer}:** {code(f'{reason.count} {reason.reason}' if reason.count else reason.reason)}{source}"
        yield ""
    else:
        yield f"**{with_code(heading_of(reason, unit))}**"
        yield ""
    for line in reason.lines:
        yield f"- {_line(line)}"
    if reason.nodes:
        yield f"- on {named(reason.nodes)}"
    if reason.todo:
        yield f"- {label if label == ARROW else f'**{label}**'} {with_code(reason.todo)}"
    yield from (line for command in reason.commands for line in _command(command))
    if reason.caution:
        yield f"- **Note:** {with_code(reason.caution)}"


def _line(line: Line) -> str:
    if not line.names:
        return with_code(line.text)
    return named(line.names) + (f": {with_code(line.text)}" if line.text else "")


def _fix(fix: Fix) -> Iterable[str]:
    yield f"- {with_code(fix.what)}" + (f" {with_code(fix.effect)}" if fix.effect else "")
    yield from (line for command in fix.commands for line in _command(command))


def _command(command: str) -> Iterable[str]:
    """A command, or the lines of YAML, below an item of a list."""
    if "\n" not in command:
        yield f"  {code(command)}"
        return
    yield ""
    fence = _fence(command, 3)
    yield from (f"  {line}" for line in (f"{fence}yaml", *command.splitlines(), fence))
    yield ""


def named(names: Sequence[str], *, most: int = _MAX_NAMES) -> str:
    """The first names, and the number of the others."""
    more = len(names) - most
    return ", ".join(code(name) for name in names[:most]) + (f" and {more} more" if more > 0 else "")


def text(words: str) -> str:
    """Words, in one line, in which nothing is markup."""
    return _inert(" ".join(words.split()))


def with_code(words: str) -> str:
    """Words in one line whose parts between single backticks are code. Backticks in names may be anywhere, so all others are escaped."""
    result = ""
    for number, part in enumerate(CODE.split(" ".join(words.split()))):
        marked = code(part) if number % 2 else _inert(part)
        # Adjacent backticks would be one fence.
        result += f" {marked}" if result.endswith("`") and marked.startswith("`") else marked
    return result


def _inert(words: str) -> str:
    """Words in which nothing is markup. Mentions and references become code, because GitHub recognizes them also where they are escaped."""
    return " ".join(code(word) if _REFERENCE.search(word) else _SPECIAL.sub(r"\\\1", word) for word in words.split(" "))


def code(words: str) -> str:
    """Words as inline code, in one line, with a fence that is longer than any run of backticks in them; "" without words."""
    words = " ".join(words.splitlines())
    if not words:
        return ""
    fence = _fence(words, 1)
    padding = " " if "`" in words else ""
    return f"{fence}{padding}{words}{padding}{fence}"


def block(words: str) -> list[str]:
    """The lines of a code block, one for each line of the words."""
    fence = _fence(words, 3)
    return [fence, *(" ".join(line.split()) for line in words.splitlines()), fence]


def _fence(words: str, shortest: int) -> str:
    """Backticks that are more than any run of them in the words."""
    return "`" * max(shortest, 1 + max((len(run) for run in re.findall("`+", words)), default=0))
