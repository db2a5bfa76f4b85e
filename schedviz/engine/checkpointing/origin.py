"""What a session began with, kept small: a reset goes back to it, and a checkpoint writes only what has changed since."""

from __future__ import annotations

from collections.abc import Sequence

from schedviz.kube.meta import KubeObject
from schedviz.kube.packed import pack, unpack


class Origin:
    """The imported objects: as they are, or packed, or both."""

    def __init__(self, packed: bytes = b"") -> None:
        self._objects: list[KubeObject] | None = None if packed else []
        self._packed = packed

    def take(self, objects: Sequence[KubeObject]) -> None:
        """Add objects of an import."""
        self._objects = [*self.objects(), *objects]
        self._packed = b""

    def objects(self) -> list[KubeObject]:
        """The objects in the order in which they were imported."""
        if self._objects is None:
            self._objects = unpack(self._packed)
        return list(self._objects)

    def packed(self) -> bytes:
        """The objects for a checkpoint; made once. Empty where there are none."""
        if not self._packed and self._objects:
            self._packed = pack(self._objects)
        return self._packed
