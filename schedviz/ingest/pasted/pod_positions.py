"""`PodPositions`: which pod a position in a copied text is about, by descriptions, commands, headings, tables and events."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Final

from schedviz.ingest.pasted.line_bounds import MAX_LINE_LENGTH, line_end, line_start
from schedviz.kube.pod_status import GATED

_NAME: Final = re.compile(r"^(\s*+)Name:\s++(\S+)\s*+$")
_NAMESPACE: Final = re.compile(r"^\s*+Namespace:\s++(\S+)\s*+$")


def _describe_command(kinds: str) -> re.Pattern[str]:
    """The command that prints a description, of which perhaps only the end was copied: `kubectl describe pod web-1 -n shop | tail`."""
    tool = r"^[^\n|]{0,80}?\b(?:kubectl|oc|k)\b[^\n|]{0,80}?\bdescribe[ \t]++"
    return re.compile(rf"{tool}(?:{kinds})(?:[ \t]++|/)(?P<rest>[^\n|]{{1,400}}+)", re.MULTILINE)


_COMMAND: Final = _describe_command("pods?|po|workloads?")
#: The command that prints the object of one pod, of which perhaps only the status was copied.
_GET_COMMAND: Final = re.compile(
    r"^[^\n|]{0,80}?\b(?:kubectl|oc|k)\b[^\n|]{0,80}?\bget[ \t]++(?:pods?|po)(?:[ \t]++|/)(?=[^\n|]{1,400}?-o[ \t=]?(?:json|yaml))"
    r"(?P<rest>[^-\n|][^\n|]{0,400}+)",
    re.MULTILINE,
)
_CLAIM_COMMAND: Final = _describe_command("pvc|persistentvolumeclaims?")
_COMMAND_NAMESPACE: Final = re.compile(r"(?:^|[ \t])(?:-n|--namespace)(?:[ \t]++|=)(?P<namespace>[a-z0-9-]++)")
#: More words after a command are prose.
_MAX_ARGUMENTS: Final = 3
_COMMAND_NAME: Final = re.compile(r"(?:^|[ \t])(?P<name>[a-z0-9][a-z0-9.-]*+)(?=[ \t]|$)")
#: A row of `kubectl get pods`, with its namespace if the table has several.
_POD_ROW: Final = re.compile(
    r"^[ \t]*+(?:(?P<namespace>[a-z0-9][a-z0-9-]*+)[ \t]++)?(?:pod/)?(?P<name>[a-z0-9][a-z0-9.-]*+)[ \t]++\d++/\d++[ \t]++"
    r"(?P<status>[A-Z][A-Za-z:0-9/]*+)[ \t]",
    re.MULTILINE,
)
#: The column STATUS of pods without a node.
_WAITING: Final = ("Pending", GATED)
#: A heading between descriptions: `--- Description for web-1 ---`.
_HEADING: Final = re.compile(r"^[ \t]*+(?:-{3,}|={3,}|#{1,6})[ \t]++(?P<title>[^\n]{1,300}+)", re.MULTILINE)
_WORD: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
#: The event of a pod that was placed, and a line of the events of `kubectl describe`.
_ASSIGNED: Final = re.compile(r"\bSuccessfully assigned (?P<pod>[a-z0-9*-]++/[a-z0-9.*-]++) to [a-z0-9*]")
_EVENT_LINE: Final = re.compile(r"[ \t]*+(?:Type[ \t]|-{3,}[ \t]|Normal[ \t]|Warning[ \t])")
#: What spawners and runners of jobs write about a pod of theirs.
NOT_STARTED: Final = re.compile(
    r"\b[Pp]od (?P<pod>[a-z0-9][a-z0-9-]{0,62}/[a-z0-9][a-z0-9.-]{0,252}) (?:did not start\b|to be running, status is Pending\b)"
    r"|\bpod/(?P<name>[a-z0-9][a-z0-9.-]{0,252}) did not start\b"
)
#: The first line of a description, and a line that only those of volumes and nodes have.
_DESCRIPTION: Final = re.compile(r"^Name:[ \t]++\S++[ \t]*+$", re.MULTILINE)
_NO_POD: Final = re.compile(r"^(?:Reclaim Policy|Roles):", re.MULTILINE)
_DESCRIBED: Final = re.compile(r"^[ \t]*+(?:Name|Namespace):[ \t]++\S++[ \t]*+$", re.MULTILINE)


class PodPositions:
    """The pods of `kubectl describe` in a text, each from its `Name:` line on."""

    def __init__(self, text: str) -> None:
        others = {start for start, _ in _parts_with(_NO_POD, text)}
        self._lines = [(match.start(), "" if match.start() in others else match[0]) for match in _DESCRIBED.finditer(text)]
        self._line_starts = [start for start, _ in self._lines]
        commands = sorted((*_COMMAND.finditer(text), *_GET_COMMAND.finditer(text)), key=lambda match: match.start())
        self._commands = [(match.start(), name) for match in commands if (name := _pod_of_command(match[0], match["rest"]))]
        rows = list(_POD_ROW.finditer(text))
        self._pending = {f"{row['namespace'] or 'default'}/{row['name']}" for row in rows if row["status"] in _WAITING}
        self._headings = list(_headings(text, {row["name"]: f"{row['namespace'] or 'default'}/{row['name']}" for row in rows}))
        self._placed = list(_placed_pods(text))
        self._not_started = {match["pod"] or f"default/{match['name']}" for match in NOT_STARTED.finditer(text)}
        self._claims = [
            (match.start(), name) for match in _CLAIM_COMMAND.finditer(text) if (name := _pod_of_command(match[0], match["rest"]))
        ]
        self._next = self._next_command = 0
        #: The pod of the last command that printed no name.
        self._last = ""
        self._name = self._namespace = ""
        #: The indentation of the pod's name: that of a volume's ConfigMap is deeper.
        self._indent = 0

    def pod_before(self, offset: int) -> str:
        """The pod that is described at an offset; "" if none is. Offsets must not decrease."""
        while self._next_command < len(self._commands) and self._commands[self._next_command][0] < offset:
            at, name = self._commands[self._next_command]
            self._next_command += 1
            first_after = bisect_right(self._line_starts, at)
            if first_after == len(self._line_starts) or self._line_starts[first_after] >= offset:
                self._last = name
                return name
        return (
            self._pod_of_lines(offset)
            or self._pod_of_events(offset)
            or self._pod_of_heading(offset)
            or self._last
            or self._only_pod_of_text()
        )

    def claim_before(self, offset: int, described: str) -> str:
        """The claim that is described at an offset where `pod_before` finds `described`; "": the text does not name it."""
        at = bisect_right(self._claims, offset, key=lambda each: each[0]) - 1
        line = bisect_right(self._line_starts, offset) - 1
        if at >= 0 and (line < 0 or self._line_starts[line] < self._claims[at][0]):
            return self._claims[at][1]
        # What only a table or a command names is a pod.
        return described if line >= 0 else ""

    def _only_pod_of_text(self) -> str:
        """The only pending pod of a table in the text, or the only one that did not start; "": there is none, or there are several."""
        known = self._pending or self._not_started
        return next(iter(known)) if len(known) == 1 else ""

    def _pod_of_events(self, offset: int) -> str:
        """The pod of the events at an offset, by the event that it was placed; "": there is no such event."""
        at = bisect_right(self._placed, offset, key=lambda each: each[0]) - 1
        return self._placed[at][2] if at >= 0 and offset < self._placed[at][1] else ""

    def _pod_of_heading(self, offset: int) -> str:
        at = bisect_right(self._headings, offset, key=lambda each: each[0]) - 1
        return self._headings[at][1] if at >= 0 else ""

    def _pod_of_lines(self, offset: int) -> str:
        while self._next < len(self._lines) and self._lines[self._next][0] < offset:
            line = self._lines[self._next][1]
            if not line:
                # The description of a volume or a node ends that of the pod.
                self._name = self._namespace = ""
            elif (name := _NAME.match(line)) is not None:
                if not self._name or len(name[1]) <= self._indent or self._has_namespace_next():
                    self._name, self._namespace, self._indent = name[2], "", len(name[1])
            elif (namespace := _NAMESPACE.match(line)) is not None:
                self._namespace = namespace[1]
            self._next += 1
        return f"{self._namespace or 'default'}/{self._name}" if self._name else ""

    def _has_namespace_next(self) -> bool:
        """Whether a namespace follows the name, as in the head of a description."""
        return self._next + 1 < len(self._lines) and _NAMESPACE.match(self._lines[self._next + 1][1]) is not None


def _headings(text: str, pods: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Where the headings are that name one pod of a table, with that pod."""
    for heading in _HEADING.finditer(text) if pods else ():
        named = {pods[word] for word in _WORD.findall(heading["title"]) if word in pods}
        if len(named) == 1:
            yield heading.start(), next(iter(named))


def _placed_pods(text: str) -> Iterator[tuple[int, int, str]]:
    """Each list of events in which one pod was scheduled: where it begins and ends, and the pod."""
    end = 0
    for assigned in _ASSIGNED.finditer(text):
        begin = line_start(text, assigned.start(), MAX_LINE_LENGTH)
        if begin < end or _EVENT_LINE.match(text, begin) is None:
            continue
        while begin > end and _EVENT_LINE.match(text, before := max(text.rfind("\n", end, begin - 1) + 1, end)) is not None:
            begin = before
        end = line_end(text, assigned.end())
        while _EVENT_LINE.match(text, end) is not None:
            end = line_end(text, end)
        if len({match["pod"] for match in _ASSIGNED.finditer(text, begin, end)}) == 1:
            yield begin, end, assigned["pod"]


def _parts_with(line: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where descriptions begin and end that have a line."""
    starts = [match.start() for match in _DESCRIPTION.finditer(text)]
    for start, end in itertools.pairwise((*starts, len(text))):
        if line.search(text, start, end) is not None:
            yield start, end


def _pod_of_command(command: str, rest: str) -> str:
    """The pod of a command; "" for a placeholder, and for prose that mentions the command."""
    if "<" in rest or len(_COMMAND_NAMESPACE.sub(" ", rest).split()) > _MAX_ARGUMENTS:
        return ""
    namespace = _COMMAND_NAMESPACE.search(command)
    name = _COMMAND_NAME.search(_COMMAND_NAMESPACE.sub(" ", rest))
    return f"{namespace['namespace'] if namespace is not None else 'default'}/{name['name']}" if name is not None else ""
