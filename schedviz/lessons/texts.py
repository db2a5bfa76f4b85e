"""The text of a lesson in one language, as Markdown:

    # Title
    What it is about.

    ## four-nodes            a stop, by its id; then what is said there
    ### Question             what is asked; a list of options, each beginning with its id in backquotes
    ### Answer               what is said once the answer is known
    ### Hint                 what helps a participant
    ### Hint list-moved      what is said while a hint of the plan holds, by its id
    ### Notes                for the teacher alone

    ## Take home             three to five facts, as a list
    ## In v1.36              what is different in another release that the plan names, in one line

Headings of parts are the same in every language. `{name}` stands for a fact of the stop, `{answer}` for the answer; links to `node:…`,
`pod:…`, `pane:…` point at it in the view of the session.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from schedviz.lessons.errors import fault

TAKE_HOME = "Take home"
#: What precedes a release in the heading of its differences.
IN_RELEASE = "In "
_PARTS = {"Question": "question", "Answer": "answer", "Hint": "hint", "Notes": "notes"}
_LIVE_HINT = re.compile(r"^Hint ([a-z0-9]+(?:-[a-z0-9]+)*)$")
#: Comments are not shown to learners.
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^(#{1,3}) +(.+?) *$")
_OPTION = re.compile(r"^- +`([^`]+)` *:? *(.*)$")
_ITEM = re.compile(r"^- +(.+)$")
_PLACEHOLDER = re.compile(r"\{([a-z0-9-]+)\}")


class StopText(msgspec.Struct):
    """The texts of a stop, as Markdown."""

    line: int
    text: str = ""
    question: str = ""
    #: The wording of each option, by its ID.
    options: dict[str, str] = {}
    answer: str = ""
    hint: str = ""
    #: The texts of the plan's hints, by ID.
    live_hints: dict[str, str] = {}
    notes: str = ""

    def placeholders_before(self) -> set[str]:
        """The names of the facts that are shown on arrival."""
        texts = [self.text, self.question, self.hint, self.notes, *self.options.values(), *self.live_hints.values()]
        return set(_PLACEHOLDER.findall("\n".join(texts)))

    def placeholders_after(self) -> set[str]:
        """The names of the facts that are shown with the answer."""
        return set(_PLACEHOLDER.findall(self.answer))


class Text(msgspec.Struct):
    """A lesson's text in one language."""

    file: str
    title: str
    about: str
    stops: dict[str, StopText]
    take_home: list[str]
    #: What is different in other releases, by release.
    differences: dict[str, str] = {}


def fill(markdown: str, facts: dict[str, str]) -> str:
    """The text with its facts filled in."""
    return _PLACEHOLDER.sub(lambda match: facts.get(match[1], match[0]), markdown)


def read_text(file: Path) -> Text:
    """Read a text. Raises `LessonError` with the line."""
    # Keep line numbers.
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), file.read_text(encoding="utf-8"))
    lines = text.splitlines()
    title, about, sections = _sections(file, lines)
    stops: dict[str, StopText] = {}
    take_home: list[str] = []
    differences: dict[str, str] = {}
    for heading, line, body in sections:
        if heading == TAKE_HOME:
            take_home = _items(body)
        elif heading.startswith(IN_RELEASE):
            differences[heading.removeprefix(IN_RELEASE)] = _joined(body)
        elif heading in stops:
            raise fault(file, line, f"the stop `{heading}` has two texts")
        else:
            stops[heading] = _stop(file, line, body)
    return Text(file.name, title, about, stops, take_home, differences)


Line = tuple[int, str]


def _sections(file: Path, lines: list[str]) -> tuple[str, str, list[tuple[str, int, list[Line]]]]:
    """Title, introduction, and the sections under second-level headings with their lines."""
    title = ""
    about: list[str] = []
    sections: list[tuple[str, int, list[Line]]] = []
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading and len(heading[1]) == 1:
            if title:
                raise fault(file, number, "a lesson has one title")
            title = heading[2]
        elif heading and len(heading[1]) == 2:
            sections.append((heading[2], number, []))
        elif sections:
            sections[-1][2].append((number, line))
        else:
            about.append(line)
    if not title:
        raise fault(file, 1, "expected a title: a line that begins with `# `")
    return title, "\n".join(about).strip(), sections


def _stop(file: Path, line: int, body: list[Line]) -> StopText:
    parts: dict[str, list[Line]] = {"text": []}
    part = "text"
    for number, text in body:
        heading = _HEADING.match(text)
        if heading and len(heading[1]) == 3:
            part = heading[2]
            if part not in _PARTS and not _LIVE_HINT.match(part):
                raise fault(file, number, f"`{part}` is no part of a stop; expected one of {', '.join(_PARTS)}")
            part = _PARTS.get(part, part)
            if part in parts:
                raise fault(file, number, f"the stop has two parts `{heading[2]}`")
            parts[part] = []
        else:
            parts[part].append((number, text))
    stop_text = StopText(line)
    stop_text.live_hints = {match[1]: _joined(parts.pop(name)) for name in list(parts) if (match := _LIVE_HINT.match(name))}
    stop_text.options = {match[1]: match[2] for _, text in parts.get("question", []) if (match := _OPTION.match(text))}
    parts["question"] = [(number, text) for number, text in parts.get("question", []) if not _OPTION.match(text)]
    for name, lines in parts.items():
        setattr(stop_text, name, _joined(lines))
    return stop_text


def _joined(lines: list[Line]) -> str:
    return "\n".join(text for _, text in lines).strip()


def _items(body: list[Line]) -> list[str]:
    """The items of a list. Indented lines continue an item."""
    items: list[str] = []
    for _, line in body:
        if match := _ITEM.match(line):
            items.append(match[1])
        elif items and line.startswith("  "):
            items[-1] += f" {line.strip()}"
    return items
