"""The interface of a simulated controller (a "helper" in commands and settings), which can be switched on and off.

A controller keeps no state between two reconciliations. When an object changes, it returns what to reconcile and when (`wakes`); at that
time it compares the API server's objects with the wanted state and changes them (`reconcile`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from schedviz.engine.clock import Clock
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject

#: A key to reconcile, and when: virtual time in nanoseconds.
Wake = tuple[str, int]


class ControllerApi(Protocol):
    """The API server's interface for controllers. All writes are recorded, and cause watch events."""

    store: ObjectStore
    clock: Clock
    #: The maximum number of pods that a controller creates or deletes in one sync; 0: no limit.
    pods_per_sync: int

    def find(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        ...

    def put(self, obj: KubeObject) -> None:
        """Create or replace an object."""
        ...

    def ends_gracefully(self, pod: Pod) -> bool:
        """Whether a deleted pod ends after its grace period, because its node exists and the simulated kubelet is on, or at once."""
        ...

    def replace(self, obj: KubeObject, *, verb: Literal["update", "patch"] = "update", subresource: str = "", detail: str = "") -> None:
        """Replace an object, unless nothing changes."""
        ...

    def delete(self, kind: str, namespace: str, name: str, *, graceful: bool = False) -> None:
        """Delete an object, or start a pod's termination."""
        ...


class Controller(Protocol):
    """One simulated controller."""

    @property
    def name(self) -> str:
        """The name in commands and settings."""
        ...

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """The keys to reconcile after this object was written or deleted (then it is no longer stored). `delay` is in nanoseconds."""
        ...

    def reconcile(self, key: str, api: ControllerApi) -> bool | None:
        """Reconcile a key: one sync. True: the sync was partial, because of `pods_per_sync`."""
        ...
