"""Why pods are pending in two runs: the messages of their last attempts, and the number of pods with each."""

from __future__ import annotations

from collections.abc import Iterable

from schedviz.trace.comparing.result import Reason
from schedviz.trace.comparing.side import Side
from schedviz.trace.view import QueuedPod, View

NOT_TRIED = "not tried yet"
GATED = "gated by a PreEnqueue plugin"


def compare_pending(a: Side, b: Side, *, maximum: int) -> list[Reason]:
    """Groups of pending pods, the largest first, with a limited number of names each."""
    in_a, in_b = _grouped(a), _grouped(b)
    reasons = sorted(in_a.keys() | in_b.keys(), key=lambda reason: (-len(in_a.get(reason, ())) - len(in_b.get(reason, ())), reason))
    return [
        Reason(
            reason=reason,
            a=in_a.get(reason, [])[:maximum],
            b=in_b.get(reason, [])[:maximum],
            count_a=len(in_a.get(reason, ())),
            count_b=len(in_b.get(reason, ())),
        )
        for reason in reasons
    ]


def _grouped(side: Side) -> dict[str, list[str]]:
    waiting = {pod.pod: pod for pod in _waiting(side.view)}
    tried = {pod.pod for pod in waiting.values() if pod.attempts and not pod.gated}
    messages = side.messages(tried)
    groups: dict[str, list[str]] = {}
    for name in sorted(waiting):
        groups.setdefault(_reason(waiting[name], messages), []).append(name)
    return groups


def _waiting(view: View) -> Iterable[QueuedPod]:
    yield from view.queue.active_q
    yield from view.queue.backoff_q
    yield from view.queue.error_backoff_q
    yield from view.queue.unschedulable


def _reason(pod: QueuedPod, messages: dict[str, str]) -> str:
    if pod.gated:
        return GATED
    if not pod.attempts:
        return NOT_TRIED
    if message := messages.get(pod.pod):
        return message
    return f"rejected by {', '.join(pod.unschedulable_plugins)}" if pod.unschedulable_plugins else "failed with an error"
