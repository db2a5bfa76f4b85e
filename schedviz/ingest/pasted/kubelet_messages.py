"""Finds in a text without a scheduler's message why the kubelet does not start a pod: its events, and the status of rejected pods."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from schedviz.ingest.kubectl.tables import tables
from schedviz.ingest.pasted.message_ends import whole_message
from schedviz.ingest.pasted.pod_states import key_of_row
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.pod_status import STATUS_OF_FAILED, STATUS_OF_KUBELET

#: How its messages begin. One that volumes are not mounted does not say why.
_HEAD: Final = re.compile(
    r"\bFailed (?:to )?create pod sandbox: |\bMulti-Attach error for volume \"|\bAttachVolume\.Attach failed for volume \""
    r"|\bM(?:ount|ap)Volume\.\w{1,40} failed for volume\s{1,20}\"|\bFailed to pull image \"[^\"\n]{1,300}\": "
    r"|\b(?:Pod )?(?:was rejected: )?(?:Node didn'{1,2}t have enough (?:resource|capacity): |Predicate \w{1,60} failed"
    r"|Unexpected error while attempting to recover from admission failure: |Allocate failed due to )"
    # Evictions.
    r"|\b(?:Pod )?The node (?:was low on resource: |had condition: \[)|\bPod ephemeral local storage usage exceeds the total limit"
    r"|\b(?:Container \S{1,253}|Pod) exceeded its local ephemeral storage limit|\bUsage of EmptyDir volume \""
    r"|(?P<general>\bUnable to (?:attach or )?mount volumes(?=:| for pod)|\bBack-off restarting failed container\b)"
)
#: The pod in the message itself: `error adding pod shop_web-0 to CNI network`, `for pod "web-0": `.
_POD: Final = re.compile(
    r"\b(?:adding|for) pod (?P<namespace>[a-z0-9-]{1,63})[_/](?P<name>[a-z0-9][a-z0-9.-]{0,252}) "
    # In quotes it is the name with the namespace; the name alone is in the same message.
    r"|\b(?:in pod|set up pod) \"?(?P<first>[a-z0-9][a-z0-9.-]{0,252})_(?P<then>[a-z0-9-]{1,63})[(\"]"
)
#: What `kubectl logs` says of a pod whose init containers have not ended.
_WAITING_POD: Final = re.compile(r'\bin pod "(?P<name>[a-z0-9][a-z0-9.-]{0,252})" is waiting to start\b')
#: The scheduler's event before a message of the kubelet, or after it where the newest event is first.
_ASSIGNED: Final = re.compile(r"\bSuccessfully assigned (?P<pod>[a-z0-9-]{1,63}/[a-z0-9][a-z0-9.-]{0,252}) to ")
#: A row of an event before its message: with its age after the reason, or at the beginning.
_EVENT: Final = re.compile(
    r"\b(?:Normal|Warning)[ \t]++[A-Z]\w{2,60}[ \t]++(?P<age>(?:\d++[smhdy])++)\b"
    r"|(?:^|[ \t])(?P<first>(?:\d++[smhdy])++)[ \t](?=[^\n]{0,300}\b(?:Normal|Warning)[ \t])"
)
#: A row of a table of events before its message.
_OBJECT: Final = re.compile(
    r"^[ \t]*+(?:(?P<namespace>[a-z0-9][a-z0-9-]*+)[ \t]++)??(?:\d++[smhdy])++[ \t]++(?:Normal|Warning)[ \t]++\w++[ \t]++"
    r"[Pp]od/(?P<name>[a-z0-9][a-z0-9.-]*+)[ \t]"
)
_BEFORE: Final = 1_000
_MAX_PODS: Final = 200
#: The column STATUS of pods about which the kubelet says something.
_OF_KUBELET: Final = re.compile(f"{STATUS_OF_KUBELET.pattern}|{STATUS_OF_FAILED.pattern}")


def kubelet_messages(text: str, pod_before: Callable[[int], str]) -> Iterator[PodMessage]:
    """For each pod the last message that says why. `pod_before`: the pod that is described at an offset; offsets do not decrease."""
    found: dict[str, tuple[bool, str, str]] = {}
    if _HEAD.search(text) is None:
        return
    rows = _Rows(text)
    assigned = _Assigned(text)
    waiting = f"default/{named['name']}" if (named := _WAITING_POD.search(text)) is not None else ""
    for head in _HEAD.finditer(text):
        message = whole_message(text, head.start(), head.end())[0]
        pod = (
            _pod_of(message)
            or _pod_of_row(text, head.start())
            or rows.pod_for(pod_before(head.start()))
            or assigned.pod_at(head.start())
            or waiting
        )
        says_why = head["general"] is None
        if says_why or not found.get(pod, (False, "", ""))[0]:
            found[pod] = says_why, message, _age_before(text, head.start())
    yield from (PodMessage(pod, message, at=at) for pod, (_, message, at) in list(found.items())[:_MAX_PODS])


def _age_before(text: str, offset: int) -> str:
    """When an event was sent, by its row before the message: `5m ago`; "": the row does not say so."""
    before = text[max(text.rfind("\n", max(0, offset - _BEFORE), offset) + 1, offset - _BEFORE) : offset]
    row = _EVENT.search(before)
    return f"{row['age'] or row['first']} ago" if row is not None else ""


def _pod_of(message: str) -> str:
    named = _POD.search(message)
    if named is None:
        return ""
    return f"{named['namespace']}/{named['name']}" if named["name"] else f"{named['then']}/{named['first']}"


def _pod_of_row(text: str, offset: int) -> str:
    """The pod of the row of a table of events that has a message; "": it is in no such row."""
    row = _OBJECT.match(text[max(text.rfind("\n", max(0, offset - _BEFORE), offset) + 1, offset - _BEFORE) : offset])
    return f"{row['namespace'] or 'default'}/{row['name']}" if row is not None else ""


class _Assigned:
    """The pods of the scheduler's events in a text without their names elsewhere, such as the list of a console."""

    def __init__(self, text: str) -> None:
        self._pods = [(match.start(), match["pod"]) for match in _ASSIGNED.finditer(text)]
        first = _HEAD.search(text)
        self._is_newest_first = bool(self._pods) and first is not None and first.start() < self._pods[0][0]

    def pod_at(self, offset: int) -> str:
        """The pod that was assigned before the message at an offset; "": none."""
        at = bisect_right(self._pods, offset, key=lambda each: each[0])
        at = at if self._is_newest_first else at - 1
        return self._pods[at][1] if 0 <= at < len(self._pods) else ""


class _Rows:
    """The pods of tables by their STATUS."""

    def __init__(self, text: str) -> None:
        rows = [row for table in tables(text) if table.is_of_pods for row in table.rows]
        self._pending = {key_of_row(row) for row in rows if row.get("STATUS") == "Pending"}
        self._starting = {key_of_row(row) for row in rows if _OF_KUBELET.fullmatch(row.get("STATUS", ""))}

    def pod_for(self, described: str) -> str:
        """The pod that a message of the kubelet is about: `described`, or the only one of the tables that is starting or was rejected."""
        if not self._starting or (described and described not in self._pending):
            return described
        return next(iter(self._starting)) if len(self._starting) == 1 else ""
