"""`FreeDevices`: which nodes have free devices for a claim with one request, as arrays over all nodes.

Most claims have one request, and nothing but selectors and earlier allocations decide which devices it gets: the first ones that are free.
Then a cycle need not search each node: its result changes only if one of its devices is allocated or freed. Nodes that see the same devices
share an result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.plugins.dynamicresources.structured.pools import (
    MAX_KEPT_RESULTS,
    Pool,
    PoolError,
    PoolIndex,
    SliceDevice,
    device_count,
    selected_devices,
)
from schedviz.engine.framework.plugins.dynamicresources.structured.search import VISITS_PER_STEP
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import Selectors
from schedviz.engine.framework.plugins.dynamicresources.structured.state import DeviceID
from schedviz.engine.framework.types import NodeInfo
from schedviz.kube.core import Node

#: The results for a node.
FREE: Final = 0
NONE_FREE: Final = 1
#: None is free, and a pool could not be used.
INVALID_POOL: Final = 2
#: Only a search can decide.
SEARCH: Final = 3

#: The work of evaluating a selector for one device, and of looking up a known result, in visits of a search. That of an evaluation is
#: estimated before the selector was evaluated once; a search counts what it was (`Selectors`).
_ESTIMATED_VISITS_PER_EVALUATION: Final = 8
_VISITS_PER_LOOKUP: Final = 0.25

#: The code of nodes of which nothing is known but that they have to be searched (`SEARCH`).
_CODE_OF_UNKNOWN: Final = 0
#: For how many requests `FreeDevices` are kept.
_MAX_KEPT: Final = 64

_versions = itertools.count(1)


class PlainRequest(NamedTuple):
    """A request that gets the first free devices that its selectors select."""

    #: The selectors of its class, then its own.
    expressions: tuple[str, ...]
    #: How many devices it needs.
    wanted: int
    #: The maximum number of steps of a search for it.
    max_steps: int

    def visits_for(self, devices: int) -> int:
        """The work of evaluating its selectors for so many devices, in visits."""
        return devices * (1 + _ESTIMATED_VISITS_PER_EVALUATION * len(self.expressions))

    def choose(self, devices: Sequence[SliceDevice], seen: int, allocated: AbstractSet[DeviceID]) -> Sequence[SliceDevice] | None:
        """The devices that it gets of the selected ones; (): too few are free. `seen`: how many devices a search visits, selected or not.

        None: too few are free, but a search, which tries all combinations of them, may take too long and end in an error.
        """
        free = [device for device in devices if device.id not in allocated]
        if len(free) >= self.wanted:
            return free[: self.wanted]
        visits_per_step = VISITS_PER_STEP + seen * max(1, len(self.expressions))
        return () if (visits_per_step << len(free)) <= self.max_steps * VISITS_PER_STEP else None


class _Choice(NamedTuple):
    """What is common to nodes with the same code."""

    #: The selected devices, in the order in which they are tried.
    devices: tuple[SliceDevice, ...]
    #: How many devices a search visits.
    seen: int
    has_invalid_pool: bool


class FreeDeviceIndex:
    """`FreeDevices` by request, computed on demand and kept until slices change."""

    def __init__(self, pools: PoolIndex, selectors: Selectors) -> None:
        self._pools = pools
        self._selectors = selectors
        self._pools_version = pools.version
        self._kept: dict[PlainRequest, FreeDevices] = {}

    def is_quick(self, request: PlainRequest, nodes: int, *, steps: int) -> bool:
        """Whether the results for this many nodes take no longer than these steps. It does not matter what is known already: the same
        state must always be handled in the same way.
        """
        if len(request.expressions) > MAX_KEPT_RESULTS:
            return False
        lookups = self._pools.several_nodes_device_count * nodes * (1 + len(request.expressions)) * _VISITS_PER_LOOKUP
        return request.visits_for(self._pools.device_count) + lookups <= steps * VISITS_PER_STEP

    def devices_for(self, request: PlainRequest, allocated: set[DeviceID]) -> FreeDevices:
        """`allocated` must not change afterwards."""
        if self._pools_version != self._pools.version or (len(self._kept) >= _MAX_KEPT and request not in self._kept):
            self._kept.clear()
            self._pools_version = self._pools.version
        free = self._kept.get(request)
        if free is None:
            free = self._kept[request] = FreeDevices(self._pools.pools_of, request, self._selectors)
        free.update(allocated)
        return free


class FreeDevices:
    """The devices that a request selects on each node, and whether enough are free. A change of slices needs a new object."""

    def __init__(self, pools_of: Callable[[Node], Sequence[Pool]], request: PlainRequest, selectors: Selectors) -> None:
        #: Distinguishes the codes of this object from those of others.
        self.version = next(_versions)
        self._pools_of = pools_of
        self._request = request
        self._selectors = selectors
        #: By code.
        self._choices = [_Choice((), 0, has_invalid_pool=False)]
        self._codes: dict[_Choice, int] = {}
        self._codes_of_device: dict[DeviceID, list[int]] = {}
        self._allocated: set[DeviceID] = set()
        self._results: npt.NDArray[np.int8] = np.full(1, SEARCH, np.int8)

    def update(self, allocated: set[DeviceID]) -> None:
        """Take the devices that are allocated now. The set must not change afterwards."""
        if allocated is self._allocated:
            return
        changed = allocated ^ self._allocated
        self._allocated = allocated
        for code in {code for device in changed for code in self._codes_of_device.get(device, ())}:
            self._results[code] = self._result(code)

    def code_of(self, info: NodeInfo) -> int:
        """The code of a node. It depends only on the Node object, as long as the slices are the same."""
        assert info.node is not None
        try:
            pools = self._pools_of(info.node)
        except PoolError:
            return _CODE_OF_UNKNOWN
        devices = selected_devices(pools, self._request.expressions, self._selectors)
        if devices is None:
            return _CODE_OF_UNKNOWN
        choice = _Choice(tuple(devices), device_count(pools), any(pool.invalid_reason for pool in pools))
        code = self._codes.get(choice)
        return self._add(choice) if code is None else code

    def results_of(self, codes: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.int8]:
        """`FREE`, `NONE_FREE`, `INVALID_POOL` or `SEARCH` for each code."""
        results: npt.NDArray[np.int8] = self._results[codes]
        return results

    def _add(self, choice: _Choice) -> int:
        code = self._codes[choice] = len(self._choices)
        self._choices.append(choice)
        for device in choice.devices:
            self._codes_of_device.setdefault(device.id, []).append(code)
        if code == len(self._results):
            self._results = np.resize(self._results, 2 * code)
        self._results[code] = self._result(code)
        return code

    def _result(self, code: int) -> int:
        choice = self._choices[code]
        chosen = self._request.choose(choice.devices, choice.seen, self._allocated)
        if chosen is None:
            return SEARCH
        if chosen:
            return FREE
        return INVALID_POOL if choice.has_invalid_pool else NONE_FREE
