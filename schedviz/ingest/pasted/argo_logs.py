"""`ArgoLog`: the log of the controller of Argo Workflows, which repeats the scheduler's messages about the pods of a workflow's nodes.

The ID of a workflow's node is the name of its pod; newer releases of Argo write the name of the template into that, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_LOGGED: Final = re.compile(
    # With the state after the change and before it.
    r'msg=\\{0,3}"node changed\\{0,3}"(?P<changed>[^\n]{1,4000})|Updating node (?P<name>[^\n]{1,1000}?) message: (?=Unschedulable: )'
)
_ID: Final = re.compile(r"\bnodeID=(?P<id>[a-z0-9][a-z0-9.-]{0,252})")
_NAMESPACE: Final = re.compile(r"\bnamespace=(?P<namespace>[a-z0-9][a-z0-9-]{0,62})")
_NEW: Final = re.compile(
    r'\bnew\.message=(?P<message>\\{0,3}"Unschedulable: |[A-Z]\w{1,40}|)(?=.{0,2000}?\bnew\.phase=(?P<phase>[A-Z][a-z]{1,20}))'
)
#: The ID, in parentheses after the name of the node if that is another.
_NAMED_ID: Final = re.compile(r"(?:^|[ (])(?P<id>[a-z0-9][a-z0-9.-]{0,252})\)?$")
#: What precedes a message that was true before the change.
_OLD: Final = re.compile(r'\bold\.message=\\{0,3}"(?:Unschedulable: )?$')
_MAX_LINE: Final = 6_000


class ArgoLog:
    """The lines of this log in a text, if there are any."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(_LOGGED.finditer(text))
        namespaces = {each["namespace"] for each in _NAMESPACE.finditer(text)} if self._lines else set()
        self._only_namespace = next(iter(namespaces)) if len(namespaces) == 1 else "default"

    def pod_at(self, offset: int) -> str:
        """`namespace/name` of the pod that a message at an offset is about; "": the line is of another log."""
        if not self._lines:
            return ""
        begin, end = self._line_at(offset)
        logged = _LOGGED.search(self._text, begin, end)
        return "" if logged is None else self._pod_of(logged)

    def is_of_past(self, offset: int) -> bool:
        """Whether a message at an offset is the one before a change."""
        return bool(self._lines) and _OLD.search(self._text, max(0, offset - 60), offset) is not None

    @property
    def started(self) -> Mapping[str, str]:
        """What the last line says about each pod that no longer waits for the scheduler: `PodInitializing`, or its phase."""
        states: dict[str, str] = {}
        for logged in self._lines:
            new = _NEW.search(logged["changed"]) if logged["changed"] is not None else None
            waits = new is None or "Unschedulable" in new["message"]
            states[self._pod_of(logged)] = "" if new is None or waits else new["message"] or new["phase"]
        return {pod: state for pod, state in states.items() if pod and state and state != "Pending"}

    def _pod_of(self, logged: re.Match[str]) -> str:
        found = _NAMED_ID.search(logged["name"]) if logged["name"] is not None else _ID.search(logged["changed"])
        if found is None:
            return ""
        own = _NAMESPACE.search(self._text, *self._line_at(logged.start()))
        return f"{own['namespace'] if own is not None else self._only_namespace}/{found['id']}"

    def _line_at(self, offset: int) -> tuple[int, int]:
        begin = max(self._text.rfind("\n", max(0, offset - _MAX_LINE), offset) + 1, offset - _MAX_LINE, 0)
        newline = self._text.find("\n", offset, offset + _MAX_LINE)
        return begin, newline if newline >= 0 else min(len(self._text), offset + _MAX_LINE)
