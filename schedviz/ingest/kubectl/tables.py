"""Reads the tables of `kubectl get pods` and `kubectl get nodes`, for messages: which pods are pending, and which nodes are
unschedulable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

#: The first line of a table: names in capitals, two spaces or more apart.
_HEADER: Final = re.compile(r"^[ \t]*+(?:NAMESPACE\s++)?NAME\s++[A-Z][A-Z \-/()]*+\s*+$")
#: Rows without a header: `[NAMESPACE] NAME READY STATUS RESTARTS AGE`, `NAME STATUS ROLES AGE VERSION`.
_POD_COLUMNS: Final = ("NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "NODE")
_POD_ROW: Final = re.compile(
    r"^[ \t]*+(?:([a-z0-9][a-z0-9.-]*+)[ \t]++)?([a-z0-9][a-z0-9.-]*+)[ \t]++(\d++/\d++)[ \t]++([A-Z][A-Za-z:0-9]++)[ \t]++(\d++)"
    # Of `-o wide`, the node after the age and the address.
    r"(?:(?:[ \t]++\([^()\n]{1,40}\))?[ \t]++(?:\d++[smhdy])++[ \t]++(?:[0-9a-f.:]++|<none>)[ \t]++([a-z0-9][a-z0-9.-]*+)(?![^\s]))?"
)
#: When a pod restarted, in the column RESTARTS.
_AGO: Final = re.compile(r"(?<=\d) \((?:\d++[smhdy])++ ago\)")
_NODE_COLUMNS: Final = ("NAME", "STATUS", "ROLES", "AGE", "VERSION")
_NODE_ROW: Final = re.compile(
    r"^[ \t]*+([a-z0-9][a-z0-9.-]*+)[ \t]++((?:Not)?Ready[A-Za-z,]*+)[ \t]++([a-z0-9<>,-]++)[ \t]++(\d++[smhdy]\w*+)[ \t]++(v\d[\w.+-]*+)"
)
_BLANK_LINES: Final = re.compile(r"\n(?:[ \t\r]*+\n)++")
_PROMPT: Final = re.compile(r"^\s*+[$#>]|[$#%>] ?(?:kubectl|oc) ")
#: Names that are listed.
_MAX_LISTED: Final = 3


class Table(NamedTuple):
    """A table: its columns, and its rows by column."""

    columns: tuple[str, ...]
    rows: list[dict[str, str]]

    @property
    def is_of_pods(self) -> bool:
        """Whether it is a table of pods."""
        return "READY" in self.columns and "RESTARTS" in self.columns

    @property
    def is_of_nodes(self) -> bool:
        """Whether it is a table of nodes."""
        return ("STATUS" in self.columns and "READY" not in self.columns and bool({"ROLES", "VERSION"} & {*self.columns})) or (
            self.columns == ("NAME", "STATUS", "AGE") and any("Ready" in row.get("STATUS", "") for row in self.rows)
        )


def tables(text: str) -> Iterator[Table]:
    """The tables in a text, with prompts and other text between them; without any, those whose header is missing."""
    has_tables = False
    for table in _with_header(text):
        has_tables = True
        yield table
    if not has_tables:
        yield from _without_header(text)


def _lines(text: str) -> list[str]:
    """The lines of a text. Of consecutive lines without text there is one."""
    return _BLANK_LINES.sub("\n\n", text).split("\n")


def _without_header(text: str) -> Iterator[Table]:
    """Rows of pods and of nodes as `kubectl get --no-headers` prints them."""
    for columns, row in ((_POD_COLUMNS, _POD_ROW), (_NODE_COLUMNS, _NODE_ROW)):
        rows = [
            {name: value for name, value in zip(columns, match.groups(), strict=True) if value is not None}
            for line in _lines(text)
            if (match := row.match(line)) is not None
        ]
        if rows:
            yield Table(tuple(name for name in columns if name in rows[0]), rows)


def _with_header(text: str) -> Iterator[Table]:
    columns: list[str] = []
    rows: list[dict[str, str]] = []
    for line in _lines(text):
        cells = _AGO.sub("", line).split()
        if _HEADER.match(line):
            if columns:
                yield Table(tuple(columns), rows)
            columns, rows = re.split(r"\s{2,}", line.strip()), []
        elif columns and len(cells) >= len(columns) - 1 and cells and not _PROMPT.search(line):
            # Only the first columns are used, which contain no spaces.
            rows.append(dict(zip(columns, cells, strict=False)))
        elif columns:
            yield Table(tuple(columns), rows)
            columns = []
    if columns:
        yield Table(tuple(columns), rows)


def pod_name(row: Mapping[str, str]) -> str:
    """The name of a pod in a row. `kubectl get all` prints the kind before it."""
    return row["NAME"].removeprefix("pod/")


def pending_in(text: str) -> list[str]:
    """The pending pods of the tables in a text, as arguments of kubectl: `NAME`, or `NAME -n NAMESPACE`."""
    rows = (row for table in tables(text) if table.is_of_pods for row in table.rows if row.get("STATUS") == "Pending")
    return list(dict.fromkeys(f"{pod_name(row)}{f' -n {namespace}' if (namespace := row.get('NAMESPACE')) else ''}" for row in rows))


def command_for(text: str) -> str:
    """The command that prints why the first pending pod of a table waits; "" if there is none."""
    return next((f"kubectl describe pod {pod}" for pod in pending_in(text)), "")


def sentences_about_tables(text: str) -> str:
    """One or two sentences about the tables in a text, each after a space, with what to do next; "" if there is nothing to say."""
    unavailable: list[str] = []
    nodes = 0
    for table in tables(text):
        if table.is_of_nodes:
            nodes += len(table.rows)
            unavailable += [f"{row['NAME']} ({row['STATUS']})" for row in table.rows if row.get("STATUS") != "Ready"]
    sentences = ""
    pending = pending_in(text)
    if pending:
        sentences += f" Pending: {_some([name.split()[0] for name in pending])}."
        sentences += f" The reason is in the events of `{command_for(text)}`."
    if unavailable:
        takes = "takes" if len(unavailable) == 1 else "take"
        sentences += f" Of its {nodes} nodes, {len(unavailable)} {takes} no new pods: {_some(unavailable)}."
    return sentences


def _some(names: list[str]) -> str:
    more = len(names) - _MAX_LISTED
    return ", ".join(names[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
