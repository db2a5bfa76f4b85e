"""An engine's memory depends on its present cluster, not on past commands, deleted pods or failed attempts."""

import gc
import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import schedviz
from schedviz.engine import Simulation
from schedviz.ingest.generate import GenerateSpec, generate
from schedviz.trace.commands import convert_command
from schedviz.trace.simulation_settings import SimulationSettings

pytestmark = pytest.mark.slow

_OF_SCHEDVIZ = tracemalloc.Filter(inclusive=True, filename_pattern=f"{schedviz.__path__[0]}/*")
#: Excludes a bounded cache of timestamps, whose bound these tests do not reach.
_BUT_TEXTS_OF_MOMENTS = tracemalloc.Filter(inclusive=False, filename_pattern="*/kube/timestamps.py")


def do(engine: Simulation, op: str, **members: Any) -> str:
    """Run a command as a worker does, which drains what it stores; returns the result."""
    engine.start(convert_command({"op": op, **members}))
    outcome = engine.work()
    assert outcome is not None
    assert not outcome.error
    engine.drain_events()
    engine.drain_cycles()
    engine.drain_extender_responses()
    return outcome.result


def engine_of(pods: int) -> Simulation:
    engine = Simulation(SimulationSettings())
    engine.load(generate(GenerateSpec(nodes=20, pods=pods)))
    do(engine, "run")
    return engine


def pod(name: str, cpu: str) -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {"containers": containers}}


def kept_of_a_round(one: Callable[[], object], *, before: int = 100, rounds: int = 100) -> float:
    """The number of memory blocks added by each round, after a warm-up."""
    for _ in range(before):
        one()
    tracemalloc.start()
    try:
        # Objects that replace older ones would count as new.
        for _ in range(rounds):
            one()
        first = blocks()
        for _ in range(rounds):
            one()
        return (blocks() - first) / rounds
    finally:
        tracemalloc.stop()


def blocks() -> int:
    """Live blocks that schedviz has allocated."""
    gc.collect()
    taken = tracemalloc.take_snapshot().filter_traces([_OF_SCHEDVIZ, _BUT_TEXTS_OF_MOMENTS])
    return sum(file.count for file in taken.statistics("filename"))


def test_no_memory_is_kept_for_a_deleted_pod() -> None:
    engine = engine_of(pods=10)

    def one() -> None:
        do(engine, "create", object=pod("passing", "100m"))
        do(engine, "cycle")
        do(engine, "delete", kind="Pod", namespace="default", name="passing")

    assert kept_of_a_round(one) < 0.5


def test_a_placed_pod_costs_a_few_objects() -> None:
    engine = engine_of(pods=10)
    numbers = itertools.count()

    def one() -> None:
        do(engine, "create", object=pod(f"pod-{next(numbers)}", "1m"))
        do(engine, "cycle")

    assert kept_of_a_round(one, before=20, rounds=40) < 60


def test_no_memory_is_kept_for_a_failed_attempt() -> None:
    engine = engine_of(pods=10)
    do(engine, "create", object=pod("too-large", "1000"))

    def one() -> None:
        do(engine, "cycle")
        do(engine, "advance", seconds=361)

    assert kept_of_a_round(one) < 0.5
