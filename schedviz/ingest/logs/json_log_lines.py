"""Lines of kube-scheduler's JSON log (`--logging-format=json`) in a copied text, rewritten as lines of its text log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import msgspec

#: How the messages begin that name a pod and why it was not placed, or its node.
_ABOUT_PODS: Final = ("Unable to schedule pod", "Error scheduling pod", "Successfully bound pod to node")
_MAX_MILLISECONDS: Final = 10_000_000_000_000


class _Pod(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Line(msgspec.Struct):
    msg: str
    err: str = ""
    pod: _Pod | str = ""
    node: str = ""
    #: Milliseconds since 1970.
    ts: float | str = ""


def with_text_lines(text: str) -> str:
    """The text; each line of a JSON log about a pod that was placed or not is `I1126 02:51:07.116508 "Unable …" pod="shop/web" err="…"`."""
    if '"msg"' not in text or not any(words in text for words in _ABOUT_PODS):
        return text
    return "\n".join(_rewritten(line) if '"msg"' in line else line for line in text.split("\n"))


def _rewritten(line: str) -> str:
    start = line.find("{")
    if start < 0 or not any(words in line for words in _ABOUT_PODS):
        return line
    try:
        logged = msgspec.json.decode(line[start:].strip(), type=_Line)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return line
    if not logged.msg.startswith(_ABOUT_PODS):
        return line
    pod = logged.pod if isinstance(logged.pod, str) else f"{logged.pod.namespace or 'default'}/{logged.pod.name}"
    value = f"node={_quoted(logged.node)}" if logged.node else f"err={_quoted(logged.err)}"
    return f"{_time(logged.ts)}{_quoted(logged.msg)} pod={_quoted(pod)} {value}"


def _time(milliseconds: float | str) -> str:
    if isinstance(milliseconds, str) or not 0 < milliseconds < _MAX_MILLISECONDS:
        return ""
    return f"I{datetime.fromtimestamp(milliseconds / 1000, UTC):%m%d %H:%M:%S.%f} 1 "


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()
