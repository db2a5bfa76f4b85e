"""The terms of docs/glossary.md, which has them in English and Chinese, for pages in one language."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec

from schedviz.web.documentation import library
from schedviz.web.documentation.rendering import slug

#: The cells of a row: names in English, names in Chinese, the meaning in both.
_CELLS_PER_ROW: Final = 3
#: Between a text in English and the same in Chinese.
_SEPARATOR: Final = " · "
#: A section with fewer terms has no index of letters. Its terms may be in the order in which they are best read.
_MIN_INDEXED_TERMS: Final = 15


class Row(msgspec.Struct, frozen=True):
    """A row of the file. `section` and `section_in_chinese` are the heading above it."""

    section: str
    section_in_chinese: str
    english: str
    chinese: str
    meaning: str
    meaning_in_chinese: str


class Term(msgspec.Struct, frozen=True):
    """A term in one language. `also`: its name in English, if that is another one. `letter`: the new letter that begins with the term."""

    anchor: str
    name: str
    also: str
    meaning: str
    letter: str


class TermSection(msgspec.Struct, frozen=True):
    """Terms under one heading."""

    title: str
    anchor: str
    terms: tuple[Term, ...]


def rows(text: str) -> Iterator[Row]:
    """The rows of the file's tables."""
    section = section_in_chinese = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section, _, section_in_chinese = line[3:].partition(_SEPARATOR)
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| ") else []
        if len(cells) != _CELLS_PER_ROW or cells[0] == "English":
            continue
        meaning, _, meaning_in_chinese = cells[2].partition(_SEPARATOR)
        yield Row(section, section_in_chinese, cells[0], cells[1], meaning, meaning_in_chinese)


def in_language(language: str) -> tuple[TermSection, ...]:
    """The glossary of this installation in a language of the page; empty if the file is missing."""
    path = library.folder() / "glossary.md"
    return _in_language(path.read_text("utf-8"), language) if path.is_file() else ()


@lru_cache(maxsize=4)
def _in_language(text: str, language: str) -> tuple[TermSection, ...]:
    by_section: dict[str, list[Row]] = {}
    for row in rows(text):
        by_section.setdefault(row.section, []).append(row)
    titles = {section: found[0].section_in_chinese if language == "zh-CN" else section for section, found in by_section.items()}
    return tuple(TermSection(titles[section], slug(section), tuple(_terms(found, language))) for section, found in by_section.items())


def _terms(found: list[Row], language: str) -> Iterator[Term]:
    """Letters are those of the names in English, by which a long section is sorted."""
    is_indexed = len(found) >= _MIN_INDEXED_TERMS
    letter = "" if is_indexed else "Z"
    for row in sorted(found, key=lambda row: row.english.casefold()) if is_indexed else found:
        initial = row.english[0].upper()
        new = initial if initial.isalpha() and initial > letter else ""
        letter = new or letter
        if language == "zh-CN":
            also = "" if row.english in row.chinese else row.english
            yield Term(slug(row.english), row.chinese, also, row.meaning_in_chinese, new)
        else:
            yield Term(slug(row.english), row.english, "", row.meaning, new)
