"""What queueing hints read from the objects of an event."""

from __future__ import annotations

from typing import TypeVar

from schedviz.engine.framework.types import QueueingHint, QueueingHintError
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject

T = TypeVar("T", bound=KubeObject)


def before_and_after(kind: type[T], old: KubeObject | None, new: KubeObject | None) -> tuple[T | None, T | None]:
    """The objects of an event about this kind. Raises `QueueingHintError`. Upstream: util/utils.go As"""
    for obj in (old, new):
        if obj is not None and not isinstance(obj, kind):
            raise QueueingHintError(f"expected {kind.__name__}, found {type(obj).__name__}")
    return old, new  # type: ignore[return-value]  # checked


def after(kind: type[T], old: KubeObject | None, new: KubeObject | None) -> T:
    """The object after an Add or an Update. Raises `QueueingHintError`."""
    _, obj = before_and_after(kind, old, new)
    if obj is None:
        raise QueueingHintError(f"the event has no {kind.__name__}")
    return obj


def before(kind: type[T], old: KubeObject | None, new: KubeObject | None) -> T:
    """The object before a Delete or an Update. Raises `QueueingHintError`."""
    obj, _ = before_and_after(kind, old, new)
    if obj is None:
        raise QueueingHintError(f"the event has no {kind.__name__}")
    return obj


def has_place(pod: Pod) -> bool:
    """Whether a pod is on a node, or nominated to one: others count it there."""
    return bool(pod.spec.node_name or pod.status.nominated_node_name)


def queue_if(condition: bool) -> QueueingHint:  # noqa: FBT001 - reads as a sentence.
    """Queue if the event may help."""
    return QueueingHint.QUEUE if condition else QueueingHint.QUEUE_SKIP
