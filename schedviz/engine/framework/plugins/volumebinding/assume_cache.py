"""Claims and volumes as the informers have them, with changes in memory that are about to be written.

Upstream: framework/plugins/volumebinding/assume_cache.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import msgspec

from schedviz.kube.claims import class_of_volume
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim

Object = TypeVar("Object", bound=KubeObject)

#: Gives an object a number, and finds it again: what a checkpoint is written with.
Number = Callable[[KubeObject], int]
Find = Callable[[str, int], KubeObject]


class AssumeError(ValueError):
    """An object that cannot be assumed, or is not in the cache."""


class ObjInfo(msgspec.Struct, Generic[Object]):
    """An object as the informer told it, and as it is assumed to be."""

    api: Object
    latest: Object


class AssumeCache(Generic[Object]):
    """The objects of one kind by key. What the informer tells replaces what was assumed, if it is newer.

    It hears of objects by itself, so it may differ from the informer's store, which plugins see otherwise.
    """

    kind: str
    #: What errors call the kind.
    description: str

    def __init__(self) -> None:
        self._objects: dict[str, ObjInfo[Object]] = {}

    def add(self, obj: Object) -> None:
        """The informer tells of a new object, or of another version."""
        info = self._objects.get(obj.key)
        if info is not None and _version(obj) <= _version(info.latest):
            return
        self._put(ObjInfo(obj, obj))

    def delete(self, obj: Object) -> None:
        """The informer tells that the object is gone."""
        self._objects.pop(obj.key, None)

    def get(self, key: str) -> Object:
        """The object as it is assumed to be. Raises `AssumeError`."""
        return self._info(key).latest

    def get_api_object(self, key: str) -> Object:
        """The object as the informer told it. Raises `AssumeError`. Upstream: GetAPIObj"""
        return self._info(key).api

    def assume(self, obj: Object) -> None:
        """Take the object as changed, until the informer tells of it. Raises `AssumeError`."""
        info = self._info(obj.key)
        assumed, stored = _version(obj), _version(info.latest)
        if assumed < stored:
            raise AssumeError(f'{self.description} "{obj.key}" is out of sync (stored: {stored}, assume: {assumed})')
        info.latest = obj

    def restore(self, key: str) -> None:
        """Forget what was assumed of an object."""
        info = self._objects.get(key)
        if info is not None:
            info.latest = info.api

    def to_state(self, number: Number) -> list[tuple[int, int]]:
        """What stands for it in a checkpoint."""
        return [(number(info.api), number(info.latest)) for info in self._objects.values()]

    def load(self, state: Sequence[Sequence[int]], find: Find) -> None:
        """The reverse of `to_state`, into a cache that was just made."""
        for api, latest in state:
            self._put(ObjInfo(find(self.kind, api), find(self.kind, latest)))  # type: ignore[arg-type]  # of this kind

    def _put(self, info: ObjInfo[Object]) -> None:
        self._objects[info.api.key] = info

    def _info(self, key: str) -> ObjInfo[Object]:
        info = self._objects.get(key)
        if info is None:
            raise AssumeError(f'could not find {self.description} "{key}"')
        return info


class ClaimCache(AssumeCache[PersistentVolumeClaim]):
    """Claims. Upstream: PVCAssumeCache"""

    kind = "PersistentVolumeClaim"
    description = "v1.PersistentVolumeClaim"


class VolumeCache(AssumeCache[PersistentVolume]):
    """Volumes, also by storage class. Upstream: PVAssumeCache"""

    kind = "PersistentVolume"
    description = "v1.PersistentVolume"

    def __init__(self) -> None:
        super().__init__()
        #: Class -> names. The class is the informer's: an assumed volume has the same.
        self._by_class: dict[str, set[str]] = {}

    def delete(self, obj: PersistentVolume) -> None:
        self._forget_class(obj.name)
        super().delete(obj)

    def list_volumes(self, storage_class: str) -> list[PersistentVolume]:
        """The volumes of a class, sorted by name. Upstream: ListPVs (in no order)"""
        return [self._objects[name].latest for name in sorted(self._by_class.get(storage_class, ()))]

    def _put(self, info: ObjInfo[PersistentVolume]) -> None:
        self._forget_class(info.api.name)
        self._by_class.setdefault(class_of_volume(info.api), set()).add(info.api.name)
        super()._put(info)

    def _forget_class(self, name: str) -> None:
        known = self._objects.get(name)
        if known is not None:
            self._by_class[class_of_volume(known.api)].discard(name)


def _version(obj: KubeObject) -> int:
    version = obj.metadata.resource_version
    return int(version) if version.isdecimal() else 0
