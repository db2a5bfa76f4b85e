"""Caches the engine of the last analysis request, because users often ask about several pods at the same moment.

With thousands of nodes, rebuilding the engine takes seconds; querying it takes milliseconds.
"""

from __future__ import annotations

import threading
from typing import Final
from uuid import UUID

from schedviz.engine import Simulation

#: The cached engine is dropped after this long without a request, to free its memory.
TTL_SECONDS: Final = 60.0

#: What identifies an engine: session, event and last executed command. The command is needed because some commands produce no event.
EngineKey = tuple[UUID, int, int]


class EngineCache:
    """Holds at most one idle engine in this process."""

    def __init__(self) -> None:
        self._key: EngineKey | None = None
        self._simulation: Simulation | None = None
        self._lock = threading.Lock()
        self._expiry_timer: threading.Timer | None = None

    def pop(self, key: EngineKey) -> Simulation | None:
        """Remove and return the engine with this key; None if it must be rebuilt."""
        with self._lock:
            simulation = self._simulation if self._key == key else None
            if simulation is not None:
                self._drop()
            return simulation

    def put(self, key: EngineKey, simulation: Simulation) -> None:
        """Cache an engine, replacing any other. Its state must be unchanged except for the scheduler's snapshot."""
        if any(not getattr(plugin, "is_dry_run_safe", False) for plugin in _stateful_plugins(simulation)):
            return
        with self._lock:
            self._drop()
            self._key, self._simulation = key, simulation
            self._expiry_timer = threading.Timer(TTL_SECONDS, self.clear)
            self._expiry_timer.daemon = True
            self._expiry_timer.start()

    def clear(self) -> None:
        """Drop the cached engine."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._expiry_timer is not None:
            self._expiry_timer.cancel()
        self._key = self._simulation = self._expiry_timer = None


def _stateful_plugins(simulation: Simulation) -> list[object]:
    return [plugin for framework in simulation.scheduler.state.profiles.values() for plugin in framework.stateful_plugins]


ENGINE_CACHE = EngineCache()
