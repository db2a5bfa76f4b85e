"""Reads kubectl's output for people: tables (`kubectl get`, also `-o wide`) and `kubectl describe`.

Tables have no requests of pods, so no cluster can be created from them, and the error says so. But they have events with the reasons why
pods did not fit. Descriptions of nodes become objects, with the pods that are described beside them (`described_objects.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.events import FAILED_SCHEDULING
from schedviz.ingest.kubectl.described_objects import has_nodes, objects_in
from schedviz.ingest.kubectl.described_storage import described_storage
from schedviz.ingest.kubectl.tables import sentences_about_tables
from schedviz.ingest.limits import Limits
from schedviz.ingest.reader import Item
from schedviz.ingest.scheduler_messages import MESSAGE, PodMessage

_HEAD_BYTES: Final = 16 << 10
#: All patterns match in linear time, because the text may be hostile: repeated groups are possessive, and no two neighbours match the same
#: characters.
_TABLE: Final = re.compile(r"(?:NAMESPACE|NAME|LAST SEEN)(?: {2,}+[A-Z][A-Z0-9()/-]*+(?: [A-Z0-9()/-]++)*+)++[ \t\r]*+$", re.MULTILINE)
_DESCRIBED: Final = re.compile(r"^[ \t]*+Name:[ \t]++(\S++)[ \t]*+$", re.MULTILINE)
_NAMESPACE: Final = re.compile(r"^[ \t]*+Namespace:[ \t]++(\S++)[ \t]*+$", re.MULTILINE)
_PART: Final = re.compile(r"^[ \t]*+(?:Namespace|Labels|Events):", re.MULTILINE)
_PENDING: Final = re.compile(r"^[ \t]*+Status:[ \t]++Pending[ \t]*+$", re.MULTILINE)
_EVENTS: Final = re.compile(r"^[ \t]*+Events:", re.MULTILINE)
#: In a table of events: `default  5m  Warning  FailedScheduling  pod/web-1  0/3 nodes are available: …`
_ROW: Final = re.compile(rf"\b{FAILED_SCHEDULING}\s+(?:pod/)?(\S+)\s")
#: In the output of `describe`: `Warning  FailedScheduling  5m  default-scheduler  0/3 nodes are available: …`
_EVENT: Final = re.compile(rf"[ \t]++Warning[ \t]++{FAILED_SCHEDULING}[ \t]")

#: The whole text if kubectl failed, and standard error was stored instead of the dump.
FAILURE: Final = re.compile(
    rb"\s*(?:error: |Error from server|The connection to the server |Unable to connect to the server)[^\n]*\n?\s*\Z"
)
#: Standard error before the dump, if both were redirected to one file (`2>&1`).
_WARNINGS: Final = re.compile(rb"(?:(?:Warning: |[EWI]\d{4} )[^\n]*\n)+(?=\{|apiVersion:)")
#: The prompt and the command before output that was copied from a terminal, and blank lines around it.
_PROMPT: Final = re.compile(rb"\s*+(?:(?:[^\n]{0,200}?[$#%>] ?)?(?:kubectl|oc) [^\n]*+\n\s*+)")
_COLOURS: Final = re.compile(rb"\x1b\[[0-9;]*+[a-zA-Z]")


def without_terminal(text: bytes) -> bytes:
    """Text that was copied from a terminal, without its colours and the command at its beginning. Line numbers stay the same."""
    if b"\x1b[" in text[:_HEAD_BYTES]:
        text = _COLOURS.sub(b"", text)
    match = _PROMPT.match(text)
    return text if match is None else b"\n" * match[0].count(b"\n") + text[match.end() :]


def without_warnings(text: bytes) -> bytes:
    """A dump without the warnings that kubectl printed before it. Line numbers stay the same."""
    match = _WARNINGS.match(text)
    return text if match is None else b"\n" * match[0].count(b"\n") + text[match.end() :]


class KubectlTextReader:
    """Extracts the scheduler's messages from tables and descriptions, and refuses those without any."""

    format = "kubectl text"

    def recognises(self, text: bytes) -> bool:
        """Whether the text begins with the header of a table, or is the output of `kubectl describe`."""
        head = text[:_HEAD_BYTES].decode("utf-8", "replace")
        start = head.lstrip()
        if _TABLE.match(start) is not None:
            return True
        return _DESCRIBED.match(start) is not None and _PART.search(head) is not None

    def read(self, name: str, text: bytes, _limits: Limits) -> Iterator[Item | PodMessage]:
        """The described objects, and the reasons why pods did not fit. Raises `UnreadableFile` if there is neither."""
        plain = text.decode("utf-8", "replace")
        is_table = _TABLE.match(plain.lstrip()) is not None
        described = not is_table and has_nodes(plain)
        if described:
            text_of_objects = plain.replace("\r\n", "\n")
            for content in (*objects_in(text_of_objects), *described_storage(text_of_objects)):
                yield Item(document=1, path=f"{content['kind']} {content['metadata']['name']}", content=content)
        messages = list(_messages_of_table(plain) if is_table else _messages_of_descriptions(plain))
        if not messages and not described and (missing := missing_events(plain)):
            raise UnreadableFile(f"{name}: {missing}")
        if not messages and not described:
            lacks = "a table of kubectl, which does not contain the requests of pods"
            if not is_table:
                lacks = "output of `kubectl describe`, which does not contain a message of the scheduler"
            raise UnreadableFile(
                f"{name}: this is {lacks}.{sentences_about_tables(plain)} Expected the output of "
                "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
            )
        yield from messages

    def documents(self, _text: bytes) -> int:
        """The text is one document."""
        return 1

    def line_of(self, _text: bytes, _document: int, _path: str) -> int:
        """Unused, because no error refers to a line."""
        return 0


def missing_events(text: str) -> str:
    """A sentence about the description of a pending pod without its events; "" if the text is none."""
    if _TABLE.match(text.lstrip()) is not None or _PENDING.search(text) is None or _EVENTS.search(text) is not None:
        return ""
    namespace = _NAMESPACE.search(text)
    return (
        "This output of `kubectl describe pod` has no Events section, where the scheduler's message would be. Add the whole output, or "
        f"that of `kubectl get events -n {namespace[1] if namespace is not None else 'default'}`."
    )


def _messages_of_table(text: str) -> Iterator[PodMessage]:
    has_namespaces = text.lstrip().startswith("NAMESPACE")
    for line in text.split("\n"):
        row = _ROW.search(line)
        message = row and MESSAGE.search(line, row.end())
        if row is None or message is None:
            continue
        before = line[: row.start()].split()
        namespace = before[0] if has_namespaces and before else "default"
        age = f"{before[1 if has_namespaces else 0]} ago" if len(before) > 1 else ""
        yield PodMessage(f"{namespace}/{row[1]}", line[message.start() :].strip(), at=age)


def _messages_of_descriptions(text: str) -> Iterator[PodMessage]:
    starts = list(_DESCRIBED.finditer(text))
    for number, start in enumerate(starts):
        part = text[start.start() : starts[number + 1].start() if number + 1 < len(starts) else len(text)]
        namespace = _NAMESPACE.search(part)
        events = list(_events(part))
        if namespace is not None and events:
            yield PodMessage(f"{namespace[1]}/{start[1]}", events[-1])


def _events(part: str) -> Iterator[str]:
    """The scheduler's messages among the events of one description, in order."""
    for line in part.split("\n"):
        head = _EVENT.match(line)
        message = head and MESSAGE.search(line, head.end())
        if message is not None:
            yield line[message.start() :].strip()
