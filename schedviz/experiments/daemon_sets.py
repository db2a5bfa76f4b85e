"""Pods of DaemonSets, which belong to their node: they are not scheduled again, and do not make a node used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedviz.kube.core import Pod


def is_of_daemon_set(pod: Pod) -> bool:
    """Whether a DaemonSet owns the pod, so that it exists once for each node."""
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references)
