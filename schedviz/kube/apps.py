"""ReplicaSets and StatefulSets (`apps/v1`): the scheduler reads which pods they select."""

from __future__ import annotations

from schedviz.kube.meta import KubeObject, LabelSelector, Part


class SelectorSpec(Part, frozen=True, gc=False):
    """Which pods belong to the set."""

    selector: LabelSelector | None = None


class ReplicaSet(KubeObject, frozen=True, kw_only=True, gc=False, tag="ReplicaSet"):
    """A replica set."""

    spec: SelectorSpec = SelectorSpec()


class StatefulSet(KubeObject, frozen=True, kw_only=True, gc=False, tag="StatefulSet"):
    """A stateful set."""

    spec: SelectorSpec = SelectorSpec()
