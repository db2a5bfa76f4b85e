"""`CycleState`: the data that plugins pass from one extension point to the next, for one pod in one cycle.

A checkpoint can store it between two stages. So each kind of data has a `StateKey` with its type, which is a msgspec struct or has
`to_state` and `from_state`. A struct must not hold sets: their order differs between processes, and equal states must give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

import msgspec


class StateData(Protocol):
    """Data that a CycleState can hold."""

    def clone(self) -> Self:
        """A copy of the members that AddPod and RemovePod change; the others may be shared."""
        ...


@runtime_checkable
class StoredState(Protocol):
    """Data with its own serialization, because msgspec cannot encode it (arrays, references)."""

    def to_state(self) -> Any:
        """Plain data that msgpack can encode."""
        ...

    @classmethod
    def from_state(cls, data: Any) -> Self: ...


Data = TypeVar("Data", bound=StateData)


class StateKey(Generic[Data]):
    """The name and the type of one plugin's data. Create it once, at module level. Upstream: framework/interface.go StateKey"""

    def __init__(self, name: str, data_type: type[Data]) -> None:
        if name in _keys:
            raise ValueError(f"two kinds of state are called {name!r}")
        self.name = name
        self.data_type = data_type
        _keys[name] = self


_keys: dict[str, StateKey[Any]] = {}


class NotFoundError(LookupError):
    """Nothing was written for a key: PreFilter did not run, or failed. Upstream: framework/cycle_state.go ErrNotFound"""

    def __init__(self) -> None:
        super().__init__("not found")


class CycleState:
    """Data of plugins by key, and the plugins to skip. Upstream: framework/cycle_state.go CycleState"""

    __slots__ = (
        "_storage",
        "is_pod_group_scheduling_cycle",
        "skip_all_post_filter_plugins",
        "skip_filter_plugins",
        "skip_pre_bind_plugins",
        "skip_score_plugins",
    )

    def __init__(self) -> None:
        self._storage: dict[str, StateData] = {}
        #: Plugins whose PreFilter returned Skip.
        self.skip_filter_plugins: frozenset[str] = frozenset()
        #: Plugins whose PreScore returned Skip.
        self.skip_score_plugins: frozenset[str] = frozenset()
        #: v1.36: plugins whose PreBindPreFlight returned Skip.
        self.skip_pre_bind_plugins: frozenset[str] = frozenset()
        #: v1.36: the pod is tried together with its group, and placed in the snapshot alone.
        self.is_pod_group_scheduling_cycle = False
        #: v1.36: no PostFilter plugin runs.
        self.skip_all_post_filter_plugins = False

    def write(self, key: StateKey[Data], data: Data) -> None:
        self._storage[key.name] = data

    def read(self, key: StateKey[Data]) -> Data:
        """The data of the key. Raises `NotFoundError`."""
        data = self._storage.get(key.name)
        if data is None:
            raise NotFoundError
        return data  # type: ignore[return-value]  # write() accepts only data of the key

    def delete(self, key: StateKey[Any]) -> None:
        self._storage.pop(key.name, None)

    def __contains__(self, key: StateKey[Any]) -> bool:
        return key.name in self._storage

    def written(self) -> dict[str, StateData]:
        """All data, by the names of the keys."""
        return dict(self._storage)

    def remove_unstorable(self, before: dict[str, StateData]) -> str:
        """Remove data written since `before` that a checkpoint cannot store. Returns the first problem, or ""."""
        fault = ""
        for name, data in list(self._storage.items()):
            if before.get(name) is data:
                continue
            try:
                _check_storable(_keys[name].data_type, data)
            except Exception as error:  # noqa: BLE001  (this is a plugin's code)
                del self._storage[name]
                fault = fault or f'what was written to CycleState as "{name}" cannot be stored: {error}'
        return fault

    def clone(self) -> CycleState:
        """A copy on which AddPod and RemovePod can be run. Upstream: framework/cycle_state.go CycleState.Clone"""
        copy = CycleState()
        copy._storage = {name: data.clone() for name, data in self._storage.items()}
        copy.skip_filter_plugins = self.skip_filter_plugins
        copy.skip_score_plugins = self.skip_score_plugins
        copy.is_pod_group_scheduling_cycle = self.is_pod_group_scheduling_cycle
        return copy

    def to_state(self) -> dict[str, Any]:
        """All data in plain form, for a checkpoint."""
        return {
            "data": {name: _to_plain(data) for name, data in self._storage.items()},
            "skipFilterPlugins": sorted(self.skip_filter_plugins),
            "skipScorePlugins": sorted(self.skip_score_plugins),
            **({"skipPreBindPlugins": sorted(self.skip_pre_bind_plugins)} if self.skip_pre_bind_plugins else {}),
            **({"isPodGroupSchedulingCycle": True} if self.is_pod_group_scheduling_cycle else {}),
        }

    @classmethod
    def from_state(cls, data: dict[str, Any]) -> CycleState:
        """The state of `to_state`. The plugins' modules must have been imported, because they define the keys."""
        state = cls()
        for name, plain in data["data"].items():
            state._storage[name] = _from_plain(_keys[name].data_type, plain)
        state.skip_filter_plugins = frozenset(data["skipFilterPlugins"])
        state.skip_score_plugins = frozenset(data["skipScorePlugins"])
        state.skip_pre_bind_plugins = frozenset(data.get("skipPreBindPlugins", ()))
        state.is_pod_group_scheduling_cycle = data.get("isPodGroupSchedulingCycle", False)
        return state


def _check_storable(data_type: type[Any], data: Any) -> None:
    """Raise an exception if the data cannot be stored in a checkpoint, restored, or cloned."""
    if not isinstance(data, data_type):
        raise TypeError(f"expected {data_type.__name__}, found {type(data).__name__}")
    if not callable(getattr(data, "clone", None)):
        raise TypeError(f"{data_type.__name__} has no method clone")
    _from_plain(data_type, msgspec.msgpack.decode(msgspec.msgpack.encode(_to_plain(data))))


def _to_plain(data: StateData) -> Any:
    return data.to_state() if isinstance(data, StoredState) else msgspec.to_builtins(data)


def _from_plain(data_type: type[Any], plain: Any) -> Any:
    restore: Callable[[Any], Any] | None = getattr(data_type, "from_state", None)
    return restore(plain) if restore is not None else msgspec.convert(plain, data_type)
