"""All output of the command line. Names cannot move the cursor, retitle the terminal, forge a line or reorder text.

Text for people is escaped here; our own line breaks and colours are added afterwards. No other module of `cli` and `up`
prints (tests/cli/test_terminal_escapes.py). JSON keeps its value: such characters become JSON escapes.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

#: Unicode categories: C0, DEL and C1; format characters (bidi controls, zero-width ones); lone surrogates; line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: Columns of wrapped text: long lines are hard to read.
_MIN_COLUMNS = 40
_MAX_COLUMNS = 100
#: Move to the first column and erase the line.
_ERASE_LINE = "\r\x1b[K"


def printable(text: str, *, keep: str = "") -> str:
    """The text with control and format characters as `\\n`, `\\x1b` or `\\u202e`, except those in `keep`."""
    # Most text has none, and this test runs in C.
    if text.isprintable():
        return text
    return "".join(letter.encode("unicode_escape").decode() if _is_unsafe(letter, keep) else letter for letter in text)


def _is_unsafe(letter: str, keep: str) -> bool:
    return unicodedata.category(letter) in _UNSAFE and letter not in keep


def say(line: object = "", *, err: bool = False, **style: Any) -> None:
    """Print one line. The style (`bold`, `fg`, `bg` of `click.style`) applies on terminals only."""
    text = printable(str(line))
    click.echo(click.style(text, **style) if style else text, err=err)


def say_wrapped(text: str, *, indent: int = 0, hanging: int = 2, **style: Any) -> None:
    """Print text after `indent` spaces. On a terminal it is wrapped at words; further lines have `hanging` more spaces.

    In a pipe or a file it stays one line, so that it can be searched. `hanging` is at least 1: no name begins a line.
    """
    text = printable(text)
    before = " " * indent
    if not sys.stdout.isatty():
        say(before + text, **style)
        return
    leading = text[: len(text) - len(text.lstrip())]
    width = max(_MIN_COLUMNS, min(_MAX_COLUMNS, shutil.get_terminal_size().columns))
    lines = textwrap.wrap(
        text.strip(),
        width,
        initial_indent=before + leading,
        subsequent_indent=before + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines or [""]:
        say(line, **style)


def say_row(*cells: object) -> None:
    """Print one line of tab-separated cells."""
    click.echo("\t".join(printable(str(cell)) for cell in cells))


def say_json(text: str) -> None:
    """Print JSON text. Programs read the same value, and no name in it reaches a terminal raw."""
    safe = text if text.isascii() else "".join(json.dumps(letter)[1:-1] if _is_unsafe(letter, "\n") else letter for letter in text)
    click.echo(safe.replace("\x7f", "\\u007f"))


def say_as_json(value: object) -> None:
    """Print a value, such as a struct, as indented JSON."""
    import msgspec

    say_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def say_exact(text: str) -> None:
    """Print text that a program or a file reads byte by byte. On a terminal it is escaped, except line breaks and tabs."""
    if sys.stdout.isatty():
        click.echo(printable(text, keep="\n\t"), nl=False)
    else:
        # click would strip colours from it.
        write_bytes(text.encode())


def write_bytes(content: bytes) -> None:
    """Write a file that is not text, such as an image, to standard output. The caller has checked that it is no terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def say_over(text: str = "") -> None:
    """Print progress on standard error, replacing the current line; for terminals only."""
    click.echo(_ERASE_LINE + printable(text), nl=False, err=True)


def show(renderable: RenderableType, *, err: bool = False) -> None:
    """Print a renderable of rich, such as a table."""
    from rich.console import Console

    Console(stderr=err).print(_Printable(renderable))


def ask(prompt: str) -> str:
    """A line typed by the user."""
    return input(prompt)


def clear() -> None:
    """Clear the terminal."""
    click.clear()


class _Printable:
    """A renderable of rich whose text is escaped; the styles are rich's own."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text, keep="\n"))
