"""`ObjectIndex`: the objects of one kind by a value that each has, such as that of a label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from schedviz.kube.meta import KubeObject


class ObjectIndex:
    """Kept up to date with each write, so that a controller finds its objects without a pass over all of them."""

    def __init__(self, value_of: Callable[[KubeObject], str | None], objects: Iterable[KubeObject]) -> None:
        """`value_of`: an object's value; None: the object has none and is in no group."""
        self._value_of = value_of
        #: Value → key of the object → the object.
        self._groups: dict[str, dict[str, KubeObject]] = {}
        for obj in objects:
            self._add(obj)

    def get(self, value: str) -> Collection[KubeObject]:
        """The objects with this value, in the order of their creation."""
        return self._groups.get(value, {}).values()

    def replace(self, before: KubeObject | None, after: KubeObject | None) -> bool:
        """Follow a write: None before a creation, None after a removal. False: the index cannot follow it, and has to be made again,
        because an older object got the value of younger ones.
        """
        if before is not None and (after is None or self._value_of(before) != self._value_of(after)):
            if after is not None and self._value_of(after) is not None:
                return False
            self._remove(before)
        if after is not None:
            self._add(after)
        return True

    def _add(self, obj: KubeObject) -> None:
        value = self._value_of(obj)
        if value is not None:
            self._groups.setdefault(value, {})[obj.metadata.key] = obj

    def _remove(self, obj: KubeObject) -> None:
        value = self._value_of(obj)
        if value is not None:
            group = self._groups[value]
            del group[obj.metadata.key]
            if not group:
                del self._groups[value]
