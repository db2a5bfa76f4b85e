# ruff: noqa: INP001
"""Find words that schedviz retired: `python tools/retired_words.py [--shrink] [FILE...]`.

`tools/retired-words.toml` lists each retired term with the term to use instead, the files in which a term is right, and the
occurrences that are still to be replaced. Exit codes: 0 no other occurrence; 1 there are some, or the list of remaining ones is longer
than what is left. `--shrink` removes from that list what no longer occurs; it never adds to it. With FILE arguments, only those are
searched.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = "tools/retired-words.toml"
#: Files that are read. Others are pictures, recordings, fonts, and generated or locked files.
SUFFIXES = {"", ".css", ".html", ".ini", ".js", ".json", ".md", ".mjs", ".py", ".sh", ".svelte", ".toml", ".ts", ".yaml", ".yml"}
#: Folders that .gitignore names, apart from hidden ones.
_GENERATED = {"__pycache__", "build", "dist", "node_modules", "site"}
_NOT_SOURCES = {Path("schedviz/web/static/app"), Path("schedviz/experiments/report/built"), Path("data"), Path("test-results")}
#: What may stand between two words of a term.
_JOINT = r"[\s_-]*"
_TODO_HEADING = "\n[todo]\n"


class Use(NamedTuple):
    """One occurrence of a retired term."""

    path: str
    line: int
    term: str


@dataclass(frozen=True)
class Words:
    """The content of the list."""

    #: Retired term → the term to use instead.
    terms: Mapping[str, str]
    #: Glob of paths → terms that are right there; `*` stands for all.
    allowed: Mapping[str, list[str]]
    #: Path → term → occurrences that are still to be replaced.
    todo: Mapping[str, Mapping[str, int]]

    def uses(self, path: str, text: str) -> list[Use]:
        """The occurrences in a file, without those that are allowed there."""
        allowed = {term for glob, terms in self.allowed.items() if fnmatch(path, glob) for term in terms}
        if "*" in allowed:
            return []
        return [
            Use(path, text.count("\n", 0, start) + 1, term)
            for patterns in self._patterns
            for start, term in _found(patterns, text)
            if term not in allowed
        ]

    @cached_property
    def _patterns(self) -> list[list[_Pattern]]:
        """The terms in lower case, and the names with capitals.

        A term in lower case is found in any case and in the plural, also as a part of a snake_case name, and its words may be joined
        (`set aside`, `set_aside`, `setAside`). A term with a capital is the name of a class or a constant: it is found as it is written.
        """
        # The longest first: `take turns` is not an occurrence of `take turn`.
        lower = sorted((term for term in self.terms if term == term.lower()), key=len, reverse=True)
        names = [term for term in self.terms if term != term.lower()]
        return [
            [_Pattern(term, tuple(term.split()), _of_phrase(term)) for term in lower],
            [_Pattern(name, (), _of_name(name)) for name in names],
        ]


class _Pattern(NamedTuple):
    term: str
    #: All of these are in a text with the term, in lower case; empty for a name.
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _of_phrase(term: str) -> re.Pattern[str]:
    words = _JOINT.join(map(re.escape, term.split()))
    return re.compile(rf"(?<![A-Za-z0-9]){words}{'' if term.endswith('s') else 's?'}(?![A-Za-z0-9])", re.IGNORECASE)


def _of_name(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b")


def _found(patterns: Iterable[_Pattern], text: str) -> list[tuple[int, str]]:
    """Where each term begins. Of terms that overlap, the one that begins first is found, and of those the first in `patterns`."""
    lower = text.lower()
    found = sorted(
        (match.start(), order, match.end(), each.term)
        for order, each in enumerate(patterns)
        # One pattern of all terms would try each of them at each word.
        if (all(word in lower for word in each.words) if each.words else each.term in text)
        for match in each.pattern.finditer(text)
    )
    uses, end = [], 0
    for start, _, upto, term in found:
        if start >= end:
            uses.append((start, term))
            end = upto
    return uses


def read_words(path: Path) -> Words:
    content = tomllib.loads(path.read_text())
    return Words(content["terms"], content["allowed"], content["todo"])


def text_files(root: Path) -> list[str]:
    """The text files of the tree, without the list itself and without what .gitignore names."""
    found = []
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [
            name
            for name in folders
            if name not in _GENERATED and (not name.startswith(".") or name == ".ci") and here / name not in _NOT_SOURCES
        ]
        found += [(here / name).as_posix() for name in names if Path(name).suffix in SUFFIXES and name != ".git"]
    return sorted(set(found) - {LIST})


def find(words: Words, root: Path, paths: Iterable[str]) -> list[Use]:
    return [use for path in paths for use in words.uses(path, (root / path).read_text(errors="replace"))]


def new_uses(words: Words, uses: Iterable[Use]) -> list[Use]:
    """All occurrences of each term in each file that has more of them than its entry in the list of remaining ones permits."""
    uses = list(uses)
    counts = Counter((use.path, use.term) for use in uses)
    return [use for use in uses if counts[use.path, use.term] > words.todo.get(use.path, {}).get(use.term, 0)]


def shrunk(words: Words, uses: Iterable[Use]) -> dict[str, dict[str, int]]:
    """The list of remaining occurrences, without those that were replaced."""
    counts = Counter((use.path, use.term) for use in uses)
    left = {
        path: {term: min(number, counts[path, term]) for term, number in sorted(terms.items()) if counts[path, term]}
        for path, terms in sorted(words.todo.items())
    }
    return {path: terms for path, terms in left.items() if terms}


def write_todo(path: Path, todo: Mapping[str, Mapping[str, int]]) -> None:
    """Replace the last section of the list."""
    head, heading, _ = path.read_text().partition(_TODO_HEADING)
    path.write_text(head + heading + "".join(_todo_line(name, terms) for name, terms in todo.items()))


def _todo_line(path: str, terms: Mapping[str, int]) -> str:
    counts = ", ".join(f'"{term}" = {number}' for term, number in terms.items())
    return f'"{path}" = {{ {counts} }}\n'


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description="Find retired words.")
    parser.add_argument("--shrink", action="store_true", help=f"remove what was replaced from the [todo] section of {LIST}")
    parser.add_argument("files", nargs="*", metavar="FILE", help="search only these files")
    options = parser.parse_args(arguments)
    words = read_words(root / LIST)
    paths = text_files(root)
    if options.files:
        wanted = {Path(file).resolve() for file in options.files}
        paths = [path for path in paths if (root / path).resolve() in wanted]
    uses = find(words, root, paths)
    found = new_uses(words, uses)
    for use in sorted(found):
        say(f"{use.path}:{use.line}: {use.term!r} was retired: use {words.terms[use.term]!r}.")
    if found:
        say(f"{len(found)} uses of retired words. If one is right where it is, such as a public alias, add it to [allowed] in {LIST}.")
        return 1
    left = shrunk(words, uses)
    if not options.files and left != words.todo:
        if options.shrink:
            write_todo(root / LIST, left)
            return 0
        say(f"Fewer retired words are left than {LIST} lists. Run `python tools/retired_words.py --shrink`.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
