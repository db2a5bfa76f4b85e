"""Prints rows and values: `-o table|wide|json|yaml|name`. Standard output contains only the result."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

import click

from schedviz.terminal import printable, say, say_exact, say_json, say_over

Form = Literal["table", "wide", "json", "yaml", "name"]

output_option = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["table", "wide", "json", "yaml", "name"]),
    default="table",
    show_default=True,
    help="Output format; wide: all columns, name: only the first.",
)
#: Columns are cut to this many characters, except in wide tables.
_MAX_COLUMN_WIDTH = 60


def print_rows(rows: Sequence[dict[str, Any]], form: Form, columns: Sequence[str], *, whole: Any = None) -> None:
    """Print rows as a table of these columns (`wide`: all columns), or their source (`whole`) as JSON or YAML."""
    if form in ("json", "yaml"):
        print_value(list(rows) if whole is None else whole, form)
        return
    if form == "name":
        for row in rows:
            say(_cell(row.get(columns[0])))
        return
    shown_columns = list(columns) if form == "table" else list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    lines = [[_title(name) for name in shown_columns], *([_cell(row.get(name)) for name in shown_columns] for row in rows)]
    if form == "table":
        lines = [[text if len(text) <= _MAX_COLUMN_WIDTH else f"{text[: _MAX_COLUMN_WIDTH - 1]}…" for text in line] for line in lines]
    widths = [max(_width(line[index]) for line in lines) for index in range(len(shown_columns))]
    for line in lines:
        say("   ".join(text + " " * (width - _width(text)) for text, width in zip(line, widths, strict=True)).rstrip())


def print_value(value: Any, form: Form) -> None:
    """Print a value as JSON or, if selected, YAML."""
    if form == "yaml":
        import yaml

        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
        safe = text == printable(text, keep="\n")
        # YAML can escape characters that a terminal must not receive, but only together with all non-ASCII ones.
        say_exact(text if safe else yaml.safe_dump(value, sort_keys=False))
    else:
        say_json(json.dumps(value, indent=2, ensure_ascii=False))


class ProgressLine:
    """A line with the progress on standard error, only on terminals."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._said = False

    def say(self, text: str) -> None:
        """Replace the current line."""
        if self._is_terminal:
            say_over(text)
            self._said = True

    def end(self) -> None:
        """Erase the line."""
        if self._is_terminal and self._said:
            say_over()


def _title(name: str) -> str:
    return "".join(f"-{letter}" if letter.isupper() and index else letter for index, letter in enumerate(name)).upper()


def _cell(value: Any) -> str:
    from schedviz.client.records import printed

    return printable(printed(value))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
