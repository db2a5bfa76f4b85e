"""The engine that was asked last: whoever asks about the same moment again, most often about another pod, need not wait until it is made.

Making one takes seconds where there are thousands of nodes, asking it some milliseconds.
"""

from __future__ import annotations

import threading
from typing import Final
from uuid import UUID

from schedviz.engine import Simulation

#: So long after the last question the memory is somebody else's.
KEPT_SECONDS: Final = 60.0

#: A session, the event after which it is, and the last command that was done; both are needed where a command makes no event.
Moment = tuple[UUID, int | None, int]


class AskedEngine:
    """One engine of this process, with nobody who uses it at the moment."""

    def __init__(self) -> None:
        self._moment: Moment | None = None
        self._simulation: Simulation | None = None
        self._lock = threading.Lock()
        self._forgetting: threading.Timer | None = None

    def take(self, moment: Moment) -> Simulation | None:
        """The engine of this moment, for whoever asks now alone; None: it has to be made."""
        with self._lock:
            found = self._simulation if self._moment == moment else None
            if found is not None:
                self._forget()
            return found

    def keep(self, moment: Moment, simulation: Simulation) -> None:
        """Put it back, or in the place of another one: it is as it was, but for its snapshot."""
        if any(not getattr(plugin, "asking_changes_nothing", False) for plugin in _remembering(simulation)):
            return
        with self._lock:
            self._forget()
            self._moment, self._simulation = moment, simulation
            self._forgetting = threading.Timer(KEPT_SECONDS, self.clear)
            self._forgetting.daemon = True
            self._forgetting.start()

    def clear(self) -> None:
        """Drop it."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._forgetting is not None:
            self._forgetting.cancel()
        self._moment = self._simulation = self._forgetting = None


def _remembering(simulation: Simulation) -> list[object]:
    return [plugin for framework in simulation.scheduler.state.profiles.values() for plugin in framework.stateful_plugins]


ASKED = AskedEngine()
