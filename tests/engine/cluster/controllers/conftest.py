"""A small cluster for the tests of the simulated controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.trace.fold import Fold
from tests.engine import clusters


class Session:
    """A simulation of four nodes. Every command is folded and checkpointed; the view and the continuation must be the same."""

    def __init__(self, *pods: dict[str, Any]) -> None:
        self.simulation: Simulation = clusters.four_nodes(*pods)
        self._fold = Fold(self.simulation.view())

    def __call__(self, op: str, **members: Any) -> str:
        """Run a command and return its result."""
        twin = Simulation.restore(self.simulation.checkpoint())
        outcome = clusters.do(self.simulation, op, **members)
        assert clusters.do(twin, op, **members) == outcome
        assert twin.state_hash() == self.simulation.state_hash()
        assert outcome.error == ""
        self._fold.apply_all(self.simulation.drain_events())
        assert self._fold.to_view() == self.simulation.view()
        return str(outcome.result)

    def get(self, kind: str, key: str) -> Any:
        """An object of the API server, or None."""
        return self.simulation.cluster.find(kind, key)

    def names(self, kind: str) -> list[str]:
        """The names of all objects of a kind."""
        return sorted(obj.name for obj in self.simulation.cluster.store.of_kind(kind).values())


@pytest.fixture
def session() -> Callable[..., Session]:
    return Session


@pytest.fixture
def pod() -> Callable[..., dict[str, Any]]:
    made: Callable[..., dict[str, Any]] = clusters.pod
    return made


@pytest.fixture
def node() -> Callable[..., dict[str, Any]]:
    made: Callable[..., dict[str, Any]] = clusters.node
    return made
