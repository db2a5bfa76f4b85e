"""Finds in a text without a scheduler's message why the kubelet does not start a pod: its events, and the status of rejected pods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from schedviz.ingest.kubectl.tables import tables
from schedviz.ingest.pasted.message_ends import whole_message
from schedviz.ingest.pasted.pod_states import STATUS_OF_KUBELET, key_of_row
from schedviz.ingest.scheduler_messages import PodMessage

#: How its messages begin. One that volumes are not mounted does not say why.
_HEAD: Final = re.compile(
    r"\bFailed to create pod sandbox: |\bMulti-Attach error for volume \"|\bAttachVolume\.Attach failed for volume \""
    r"|\bM(?:ount|ap)Volume\.\w{1,40} failed for volume \"|\bFailed to pull image \"[^\"\n]{1,300}\": "
    r"|\b(?:Pod )?(?:was rejected: )?(?:Node didn't have enough (?:resource|capacity): |Predicate \w{1,60} failed"
    r"|Unexpected error while attempting to recover from admission failure: |Allocate failed due to )"
    r"|(?P<general>\bUnable to (?:attach or )?mount volumes(?=:| for pod))"
)
#: The pod in the message itself: `error adding pod shop_web-0 to CNI network`, `for pod "web-0": `.
_POD: Final = re.compile(r"\b(?:adding|for) pod (?P<namespace>[a-z0-9-]{1,63})[_/](?P<name>[a-z0-9][a-z0-9.-]{0,252}) ")
_MAX_PODS: Final = 200


def kubelet_messages(text: str, pod_before: Callable[[int], str]) -> Iterator[PodMessage]:
    """For each pod the last message that says why. `pod_before`: the pod that is described at an offset; offsets do not decrease."""
    found: dict[str, tuple[bool, str]] = {}
    if _HEAD.search(text) is None:
        return
    rows = _Rows(text)
    for head in _HEAD.finditer(text):
        message = whole_message(text, head.start(), head.end())[0]
        pod = _pod_of(message) or rows.pod_for(pod_before(head.start()))
        says_why = head["general"] is None
        if says_why or not found.get(pod, (False, ""))[0]:
            found[pod] = says_why, message
    yield from (PodMessage(pod, message) for pod, (_, message) in list(found.items())[:_MAX_PODS])


def _pod_of(message: str) -> str:
    named = _POD.search(message)
    return f"{named['namespace']}/{named['name']}" if named is not None else ""


class _Rows:
    """The pods of tables by their STATUS."""

    def __init__(self, text: str) -> None:
        rows = [row for table in tables(text) if table.is_of_pods for row in table.rows]
        self._pending = {key_of_row(row) for row in rows if row.get("STATUS") == "Pending"}
        self._starting = {key_of_row(row) for row in rows if STATUS_OF_KUBELET.fullmatch(row.get("STATUS", ""))}

    def pod_for(self, described: str) -> str:
        """The pod that a message of the kubelet is about: `described`, or the only one of the tables that is starting."""
        if not self._starting or (described and described not in self._pending):
            return described
        return next(iter(self._starting)) if len(self._starting) == 1 else ""
