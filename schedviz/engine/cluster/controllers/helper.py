"""What a helper is: a part of Kubernetes around the scheduler, that can be switched on.

A helper keeps nothing between two looks. When an object changes it says what has to be looked at and when (`wakes`); when that time has
come it looks at what the API server has and brings it nearer to what it should be (`look`), as controllers do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from schedviz.engine.clock import Clock
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject

#: What to look at, and at which moment of the virtual clock.
Wake = tuple[str, int]


class ApiServer(Protocol):
    """The API server as helpers use it. All writes are recorded, and told to the watchers."""

    store: ObjectStore
    clock: Clock
    #: Pods that a controller creates or deletes in one sync; 0: all of them.
    pods_per_sync: int

    def find(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        ...

    def put(self, obj: KubeObject) -> None:
        """Create or replace an object."""
        ...

    def ends_gracefully(self, pod: Pod) -> bool:
        """Whether somebody is there to end the pod: it gets its grace period then, else it is gone at once."""
        ...

    def replace(self, obj: KubeObject, *, verb: Literal["update", "patch"] = "update", subresource: str = "", detail: str = "") -> None:
        """Replace an object; nothing where that changes nothing."""
        ...

    def delete(self, kind: str, namespace: str, name: str, *, graceful: bool = False) -> None:
        """Delete an object, or let a pod begin to terminate."""
        ...


class Helper(Protocol):
    """One helper."""

    @property
    def name(self) -> str:
        """Its name in commands and settings."""
        ...

    def wakes(self, obj: KubeObject, api: ApiServer, delay: int) -> Iterable[Wake]:
        """What to look at after this object was written or deleted (it is not in the store then). `delay`: the helper's, in nanoseconds."""
        ...

    def look(self, key: str, api: ApiServer) -> bool | None:
        """One sync of the object. True: more is to be done than fits in one sync."""
        ...
