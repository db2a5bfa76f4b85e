"""An explanation or an overview as Markdown, to paste into an issue or a chat. Nothing in names and messages is taken as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from schedviz.explain.changes.smallest import SmallestChange
from schedviz.explain.explanation import Clause, Explanation
from schedviz.explain.finding import Finding
from schedviz.explain.overview import Overview

#: Nodes and pods named per line, and groups per reason.
_NAMED: Final = 5
#: Characters that Markdown, HTML or a chat would interpret.
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|@~])")


def explanation_markdown(explanation: Explanation, change: SmallestChange | None) -> str:
    """The sentence, the reasons with their numbers and nodes, and the smallest change."""
    lines = [f"### Why {code(explanation.pod)} is {explanation.standing}", "", text(explanation.sentence)]
    if explanation.message and explanation.nodes:
        lines += ["", *block(explanation.message)]
    if explanation.disagreement:
        since = f" (unschedulable since {explanation.said_since})" if explanation.said_since else ""
        lines += ["", f"Its scheduler said{since}:", "", *block(explanation.said), "", f"They differ: {text(explanation.disagreement)}."]
    lines += [line for finding in explanation.findings for line in _finding(finding)]
    for clause in explanation.clauses:
        lines += _clause(clause)
    if change is not None and change.suggestions:
        lines += ["", "**What would place it** (each verified by a dry run)", ""]
        for suggestion in change.suggestions:
            what = " and ".join(text(each.what) for each in suggestion.changes)
            lines.append(f"- {what}" + (f": fits on {suggestion.fits}" if suggestion.fits else ""))
            lines += [f"  {code(each.kubectl)}" for each in suggestion.changes if each.kubectl]
    return "\n".join(lines) + "\n"


def overview_markdown(overview: Overview) -> str:
    """The number of pods for each reason, with the numbers behind it."""
    lines = [f"### {text(overview.sentence)}"]
    for reason in overview.reasons:
        lines += ["", f"**{reason.count} × {text(reason.reason)}**", ""]
        for group in reason.groups[:_NAMED]:
            lines.append(f"- {named(group.pods)}" + (f": {text(group.detail)}" if group.detail else ""))
        if left := sum(len(group.pods) for group in reason.groups[_NAMED:]):
            lines.append(f"- and {left} more")
    return "\n".join(lines) + "\n"


def _finding(finding: Finding) -> Iterable[str]:
    yield ""
    yield f"**Doctor**: {text(finding.sentence)}."
    if finding.cause:
        yield f"Likely: {text(finding.cause)}."
    if finding.advice:
        yield f"Do: {text(finding.advice)}."


def _clause(clause: Clause) -> Iterable[str]:
    yield ""
    yield f"**{clause.count} × {text(clause.reason)}**" + (f" ({clause.plugin})" if clause.plugin else "")
    if clause.details or clause.nodes:
        yield ""
    for detail in clause.details:
        yield f"- {text(detail.sentence)}"
    if clause.nodes:
        yield f"- on {named(clause.nodes)}"


def named(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(names) - _NAMED
    return ", ".join(code(name) for name in names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def text(words: str) -> str:
    """Words, in one line, in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(words.split()))


def code(words: str) -> str:
    """Words as inline code, in one line, with a fence that is longer than any run of backticks in them."""
    words = " ".join(words.splitlines())
    longest = max((len(run) for run in re.findall("`+", words)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if longest else ""
    return f"{fence}{padding}{words}{padding}{fence}"


def block(words: str) -> list[str]:
    """The lines of a code block."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", words)), default=0))
    return [fence, " ".join(words.split()), fence]
