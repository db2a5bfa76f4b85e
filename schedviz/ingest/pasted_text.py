"""Finds the scheduler's messages in text that somebody copied: kubectl's tables and descriptions, logs, chats, issues.

Unlike `kubectl_text.py`, which reads whole files, it accepts fragments: prompts and colours of a terminal, quotes, and wrapped lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.ingest.events import REASON, message_in_event
from schedviz.ingest.scheduler_messages import MESSAGE, PodMessage

#: Longer texts are cut, unless the caller allows more.
LONGEST: Final = 200_000
#: The most messages that are returned.
MOST_MESSAGES: Final = 50

#: Escape sequences of terminals: colours, cursor movements, titles. Possessive, because the text may be hostile.
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?|[@-Z\\-_])")
#: Marks before quoted lines in mail and Markdown.
_QUOTE: Final = re.compile(r"^[ \t]*+(?:>[ \t]?)++", re.MULTILINE)
_NAME: Final = re.compile(r"^\s*+Name:\s++(\S+)\s*+$")
_NAMESPACE: Final = re.compile(r"^\s*+Namespace:\s++(\S+)\s*+$")
#: A row of `kubectl get events`: `[NAMESPACE] LAST-SEEN TYPE REASON [pod/]NAME …`.
_ROW: Final = re.compile(rf"^(?P<before>.*?)\b{REASON}\s++(?P<pod>pod/\S++|\S++)\s")
#: A line that cannot continue a wrapped message.
_NEW_LINE: Final = re.compile(rf"^\s*+(?:$|[-*#$] |\w++:(?:\s|$)|.*\b{REASON}\b|(?:Normal|Warning)\s)")
#: The pod in a log line or an event: `pod="default/web"`.
_LOGGED_POD: Final = re.compile(r"""\bpod="?([a-z0-9.-]++/[a-z0-9.-]++)""")


class _Events(msgspec.Struct):
    items: list[msgspec.Raw]


def plain(text: str) -> str:
    """The text without the escape sequences of a terminal and the marks of quoted lines."""
    return _QUOTE.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))


def messages_in(text: str, *, longest: int = LONGEST) -> list[PodMessage]:
    """The scheduler's messages, each once, in the order of the text. `pod` is "" if the text does not name it."""
    text = text[:longest]
    found: dict[tuple[str, str], PodMessage] = {}
    for message in _of_events(text) or _each(plain(text).split("\n")):
        found.setdefault((message.pod, message.message), message)
        if len(found) == MOST_MESSAGES:
            break
    return list(found.values())


def _of_events(text: str) -> list[PodMessage]:
    """The messages of Events, if the text is their JSON."""
    try:
        events = msgspec.json.decode(text, type=_Events)
    except (msgspec.MsgspecError, RecursionError):
        return []
    return [message for message in map(message_in_event, events.items) if message is not None]


def _each(lines: list[str]) -> Iterator[PodMessage]:
    name = namespace = ""
    for number, line in enumerate(lines):
        if described := _NAME.match(line):
            name, namespace = described[1], ""
        elif described := _NAMESPACE.match(line):
            namespace = described[1]
        message = MESSAGE.search(line)
        if message is None:
            continue
        pod = f"{namespace or 'default'}/{name}" if name else ""
        at = ""
        before = line[: message.start()]
        if logged := _LOGGED_POD.search(before):
            pod = logged[1]
        elif (row := _ROW.match(before)) and (row["pod"].startswith("pod/") or not name):
            columns = row["before"].split()
            # The last column before the reason is the type; before it is the time, and before that perhaps the namespace.
            at = f"{columns[-2]} ago" if len(columns) > 1 else ""
            if row["pod"].startswith("pod/"):
                pod = f"{columns[0] if len(columns) > 2 else 'default'}/{row['pod'].removeprefix('pod/')}"
        yield PodMessage(pod, _whole(line[message.start() :], lines[number + 1 :]), at=at)


def _whole(start: str, following: list[str]) -> str:
    """A message with the lines that a terminal or an editor wrapped it into."""
    parts = [start.strip()]
    for line in following:
        if _NEW_LINE.match(line) or MESSAGE.search(line) or parts[-1].endswith(('"', "'")):
            break
        parts.append(line.strip())
    return " ".join(parts).strip("\"'` ")
