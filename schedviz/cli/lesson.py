"""`schedviz lesson new|check|run`: write a lesson, check it against the engine, preview it."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedviz.cli.error_messages import MultilineError
from schedviz.terminal import ask, clear, say, show

if TYPE_CHECKING:
    from schedviz.lessons import Lesson, StopState

#: The name that `lessons.catalogue` uses; that module is too slow to import for `--help`.
OWN_FOLDERS = "SCHEDVIZ_LESSONS"
#: Exit code: the lesson has an error, such as a false claim or a missing text.
EXIT_INVALID = 1
#: Exit code: a lesson cannot be read.
EXIT_UNREADABLE = 2

_POLL_SECONDS = 0.3


@click.group()
def lesson() -> None:
    """Write, check and preview lessons. docs/lessons.md has an example."""


@lesson.command()
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Write a small lesson into FOLDER as a starting point. It passes `schedviz lesson check`."""
    from schedviz.lessons.skeleton import write_skeleton

    if folder.exists():
        raise click.ClickException(f"{folder} already exists; nothing was written.")
    for file in write_skeleton(folder):
        say(f"wrote {file}")
    say(f"Now try: schedviz lesson check {folder}")


@lesson.command()
@click.argument("lessons", nargs=-1, metavar="[NAME|FOLDER]...")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.pass_context
def check(ctx: click.Context, lessons: tuple[str, ...], watch: bool) -> None:  # noqa: FBT001 (click calls it)
    """Play lessons on the engine and check every claim, answer and text; without a name, all lessons that ship with schedviz.

    Exits with 0 if nothing is wrong, 1 if a claim is false or a text is missing, 2 if a lesson cannot be read.
    """
    folders = _folders(lessons)
    code = _check_all(folders)
    while watch:
        seen = _modification_times(folders)
        while _modification_times(folders) == seen:
            time.sleep(_POLL_SECONDS)
        clear()
        code = _check_all(folders)
    ctx.exit(code)


@lesson.command()
@click.argument("name", metavar="NAME|FOLDER")
@click.option("--terminal", is_flag=True, help="Take the lesson in the terminal instead of the page.")
@click.option("--language", type=click.Choice(["en", "zh-CN"]), default="en", show_default=True, help="With --terminal: the language.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Port of the page; 0: any free port.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def run(*, name: str, terminal: bool, language: str, port: int, no_open: bool) -> None:
    """Preview a lesson in the page while writing it: each change is checked, and the page restarts at the same stop.

    Sessions are kept only while this runs. Ctrl-C ends it.
    """
    (folder,) = _folders((name,))
    if terminal:
        _run_in_terminal(folder, language)
        return
    from schedviz.up.errors import CannotStart
    from schedviz.up.options import UpOptions
    from schedviz.up.run import run as run_all

    own = str(folder.absolute())
    os.environ[OWN_FOLDERS] = os.pathsep.join(part for part in (own, os.environ.get(OWN_FOLDERS, "")) if part)
    threading.Thread(target=_check_whenever_it_changes, args=([folder],), daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="schedviz-lesson-", ignore_cleanup_errors=True) as data:
        try:
            run_all(UpOptions(data=Path(data), port=port, open_browser=not no_open, page=f"/lessons/?begin={folder.absolute().name}"))
        except CannotStart as error:
            raise MultilineError(*error.lines) from error


def _check_whenever_it_changes(folders: list[Path]) -> None:
    while True:
        seen = _modification_times(folders)
        _check_all(folders)
        while _modification_times(folders) == seen:
            time.sleep(_POLL_SECONDS)


def _run_in_terminal(folder: Path, language: str) -> None:
    from schedviz.lessons import LessonError, read_lesson
    from schedviz.lessons.player import play

    try:
        own_lesson = read_lesson(folder)
    except LessonError as error:
        raise MultilineError(*(f"{folder}/{fault}" for fault in error.faults)) from None
    if language not in own_lesson.texts:
        raise click.ClickException(f"{folder.name} has no text in {language}; it has {', '.join(own_lesson.texts) or 'none'}.")
    _show_stops(own_lesson, play(own_lesson), language)


def _folders(lessons: Iterable[str]) -> list[Path]:
    from schedviz.lessons.catalogue import CONTENT
    from schedviz.lessons.reading import PLAN

    named = [Path(name) if Path(name).is_dir() else CONTENT / name for name in lessons]
    folders = [folder.absolute() for folder in named] or sorted(file.parent for file in CONTENT.glob(f"*/{PLAN}"))
    for folder in folders:
        if not folder.is_dir():
            raise click.ClickException(f'No folder and no lesson is named "{folder.name}".')
    return folders


def _modification_times(folders: list[Path]) -> list[tuple[str, int]]:
    return sorted((str(file), file.stat().st_mtime_ns) for folder in folders for file in folder.iterdir() if file.is_file())


def _check_all(folders: list[Path]) -> int:
    return max((_check(folder) for folder in folders), default=0)


def _check(folder: Path) -> int:
    from schedviz.lessons import LessonError, read_lesson
    from schedviz.lessons.checking import faults_of

    try:
        read = read_lesson(folder)
    except LessonError as error:
        for fault in error.faults:
            say(f"{folder.name}/{fault}")
        return EXIT_UNREADABLE
    faults = faults_of(read)
    for fault in faults:
        say(f"{folder.name}/{fault}")
    if not faults:
        claims = sum(len(stop.check) + (stop.question is not None) for stop in read.plan.stops)
        say(f"{folder.name}: {len(read.plan.stops)} stops, {claims} claims hold")
    return EXIT_INVALID if faults else 0


def _show_stops(own_lesson: Lesson, stops: Iterable[StopState], language: str) -> None:
    from rich.markdown import Markdown

    from schedviz.lessons.expressions import as_text
    from schedviz.lessons.rendering import answer_words
    from schedviz.lessons.texts import IN_RELEASE, fill

    text = own_lesson.texts[language]
    show(Markdown(f"# {text.title}\n\n{text.about}"))
    for state in stops:
        stop_text = text.stops[state.stop.id]
        say()
        show(Markdown(fill(stop_text.text, state.facts)))
        if state.stop.question is None:
            _wait()
            continue
        options = "\n".join(f"- `{option}` {text}" for option, text in stop_text.options.items())
        show(Markdown(f"**{fill(stop_text.question, state.facts)}**\n\n{options}"))
        guess = _ask()
        if guess:
            right = {part.strip() for part in guess.split(",")} == {part.strip() for part in as_text(state.answer).split(",")}
            say("✓" if right else "✗", fg="green" if right else "red")
        show(Markdown(fill(stop_text.answer, {**state.facts_after, "answer": answer_words(state, stop_text)})))
    show(Markdown("\n".join(f"- {fact}" for fact in text.take_home)))
    for release, line in text.differences.items():
        show(Markdown(f"{IN_RELEASE}{release}: {line}"))


def _ask() -> str:
    return ask("> ").strip() if sys.stdin.isatty() else ""


def _wait() -> None:
    if sys.stdin.isatty():
        ask("⏎")
