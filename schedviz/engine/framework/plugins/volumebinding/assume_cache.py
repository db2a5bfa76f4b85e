"""Claims and volumes from the informers, with assumed changes that are about to be written.

Upstream: framework/plugins/volumebinding/assume_cache.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import msgspec

from schedviz.kube.claims import class_of_volume
from schedviz.kube.meta import KubeObject, version_number
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim

Object = TypeVar("Object", bound=KubeObject)

#: Gives an object a number and finds it again, for checkpoints.
Number = Callable[[KubeObject], int]
Find = Callable[[str, int], KubeObject]


class AssumeError(ValueError):
    """An object that cannot be assumed, or is not in the cache."""


class ObjInfo(msgspec.Struct, Generic[Object]):
    """An object's latest version from the informer, and its assumed version."""

    api: Object
    latest: Object


class AssumeCache(Generic[Object]):
    """The objects of one kind by key. A newer version from the informer replaces an assumed one.

    It has its own event handlers, so it may differ from the informer's store, from which plugins read everything else.
    """

    kind: str
    #: The type in v1.27.1's error messages.
    description: str

    def __init__(self) -> None:
        self._objects: dict[str, ObjInfo[Object]] = {}

    def add(self, obj: Object) -> None:
        """Store an object that was added or updated."""
        info = self._objects.get(obj.key)
        if info is not None and version_number(obj) <= version_number(info.latest):
            return
        self._put(ObjInfo(obj, obj))

    def delete(self, obj: Object) -> None:
        """Remove a deleted object."""
        self._objects.pop(obj.key, None)

    def get(self, key: str) -> Object:
        """The assumed version. Raises `AssumeError`."""
        return self._info(key).latest

    def get_api_object(self, key: str) -> Object:
        """The informer's version. Raises `AssumeError`. Upstream: GetAPIObj"""
        return self._info(key).api

    def assume(self, obj: Object) -> None:
        """Assume a changed version, until the informer has it. Raises `AssumeError`."""
        info = self._info(obj.key)
        assumed, stored = version_number(obj), version_number(info.latest)
        if assumed < stored:
            raise AssumeError(f'{self.description} "{obj.key}" is out of sync (stored: {stored}, assume: {assumed})')
        info.latest = obj

    def restore(self, obj: Object) -> None:
        """Drop the assumed version of an object."""
        info = self._objects.get(obj.key)
        if info is not None:
            info.latest = info.api

    def to_state(self, number: Number) -> list[tuple[int, int]]:
        """The state for a checkpoint."""
        return [(number(info.api), number(info.latest)) for info in self._objects.values()]

    def load(self, state: Sequence[Sequence[int]], find: Find) -> None:
        """Load the state of `to_state` into a new cache."""
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
        #: Class -> names. The class is the informer's; an assumed version has the same.
        self._by_class: dict[str, set[str]] = {}

    def delete(self, obj: PersistentVolume) -> None:
        self._forget_class(obj.name)
        super().delete(obj)

    def list_volumes(self, storage_class: str) -> list[PersistentVolume]:
        """The volumes of a class, sorted by name. Upstream: ListPVs (unordered)"""
        return [self._objects[name].latest for name in sorted(self._by_class.get(storage_class, ()))]

    def _put(self, info: ObjInfo[PersistentVolume]) -> None:
        self._forget_class(info.api.name)
        self._by_class.setdefault(class_of_volume(info.api), set()).add(info.api.name)
        super()._put(info)

    def _forget_class(self, name: str) -> None:
        info = self._objects.get(name)
        if info is not None:
            self._by_class[class_of_volume(info.api)].discard(name)


class PassiveAssumeCache(AssumeCache[Object]):
    """v1.36: the informer's version always wins over an assumed one, and only changes of its present version can be assumed.

    Upstream: framework/plugins/volumebinding/passive_assume_cache.go
    """

    #: The resource in v1.36's error messages.
    resource: str

    def add(self, obj: Object) -> None:
        """Store an object that was added or updated. Upstream: mayExpire"""
        info = self._objects.get(obj.key)
        is_assumed = info is not None and info.latest is not info.api and _have_one_version(info.latest, obj)
        self._put(ObjInfo(obj, info.latest if info is not None and is_assumed else obj))

    def assume(self, obj: Object) -> None:
        """Assume a changed version, until the informer has it. Raises `AssumeError`."""
        stored = self._info(obj.key).api
        if not _have_one_version(stored, obj):
            versions = f"stored: {stored.metadata.resource_version}, assume: {obj.metadata.resource_version}"
            raise AssumeError(f'"{obj.key}" is out of sync ({versions})')
        super().assume(obj)

    def restore(self, obj: Object) -> None:
        """Drop the assumed version, if it is a change of this object's version."""
        info = self._objects.get(obj.key)
        if info is not None and _have_one_version(info.latest, obj):
            super().restore(obj)

    def _info(self, key: str) -> ObjInfo[Object]:
        info = self._objects.get(key)
        if info is None:
            raise AssumeError(f'{self.resource} "{key}" not found')
        return info


class PassiveClaimCache(PassiveAssumeCache[PersistentVolumeClaim], ClaimCache):
    """Claims of v1.36."""

    resource = "persistentvolumeclaims"


class PassiveVolumeCache(PassiveAssumeCache[PersistentVolume], VolumeCache):
    """Volumes of v1.36, also by storage class."""

    resource = "persistentvolumes"


def _have_one_version(first: KubeObject, second: KubeObject) -> bool:
    return first.metadata.resource_version == second.metadata.resource_version
