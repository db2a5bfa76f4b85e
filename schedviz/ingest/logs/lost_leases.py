"""Reads from a log that its kube-scheduler has lost the lease of the leader: it stops then, and another instance has to place pods."""

from __future__ import annotations

import re
from typing import Final

#: Upstream: cmd/kube-scheduler/app/server.go Run. The controller manager says the same in another file.
_LOST: Final = re.compile(r"\bleaderelection lost\b", re.IGNORECASE)
#: Upstream: client-go tools/leaderelection/leaderelection.go renew
_NOT_RENEWED: Final = re.compile(
    r"failed to renew lease\"? (?:lock=\")?(?P<lease>[a-z0-9.-]{1,63}/[a-z0-9.-]{1,253})(?:: (?P<why>[^\n]{1,300}))?", re.IGNORECASE
)
_ACQUIRED: Final = re.compile(r"successfully acquired lease", re.IGNORECASE)
_SCHEDULER: Final = "scheduler"
_OTHERS: Final = "controllermanager"
_DEFAULT: Final = "kube-system/kube-scheduler"


def lost_lease(text: str) -> tuple[str, str, str] | None:
    """The lease that was lost last, the start of the line that says so, and the words that do; None if it was acquired again."""
    lost, renewal = _last(_LOST, text), _last(_NOT_RENEWED, text)
    place = lost or renewal
    if place is None or _ACQUIRED.search(text, place.end()) is not None:
        return None
    if renewal is not None and _SCHEDULER not in renewal["lease"]:
        return None
    line = text[text.rfind("\n", 0, place.start()) + 1 : place.end()]
    if _OTHERS in line:
        return None
    lease = renewal["lease"] if renewal is not None else _DEFAULT
    why = f": {renewal['why'].strip()}" if renewal is not None and renewal["why"] else ""
    words = [f"failed to renew lease {lease}{why}"] if renewal is not None else []
    return lease, line, "; ".join((*words, *(["Leaderelection lost"] if lost is not None else [])))


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found
