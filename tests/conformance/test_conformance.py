"""The engine reproduces every recorded trace of the real kube-scheduler in both releases, also when it runs in slices."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from schedviz.engine import Simulation, run_trace, settings_of
from schedviz.engine.podgroup_pod_cycle import PodGroupPodCycle
from schedviz.engine.releases import Release
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.trace import observed
from schedviz.trace.events import AnyEvent, BindingStageEnded, CycleStarted, PodGroupStageEnded, StageEnded, decode_events, encode_events
from schedviz.trace.fold import Fold
from tests.conformance import compare, traces

for_each_trace = pytest.mark.parametrize("path", traces.FILES, ids=traces.name_of)


@for_each_trace
def test_the_engine_agrees_with_the_real_scheduler(path: Path) -> None:
    produced = json.loads(json.dumps(run_trace(traces.trace_in(path))))
    differences = list(compare.compare(traces.document_in(path), produced, strict=False, only=None))
    assert not differences, "\n".join(differences[:10])


def undeclared(events: list[AnyEvent], release: Release) -> list[tuple[str, str]]:
    """Stages that were followed by a stage that the table of their cycle does not name."""
    results = []
    in_groups = {event.cycle for event in events if isinstance(event, CycleStarted) and event.pod_group}
    for event in events:
        match event:
            case StageEnded():
                table = PodGroupPodCycle.STAGES if event.cycle in in_groups else release.scheduling_cycle.STAGES
                results += _unless_declared(event, table)
            case BindingStageEnded():
                results += _unless_declared(event, release.binding_cycle.STAGES)
            case PodGroupStageEnded():
                results += _unless_declared(event, PodGroupCycle.STAGES)
    return results


def _unless_declared(event, table) -> list[tuple[str, str]]:
    return [] if event.next_stage in table[event.stage].then else [(event.stage, event.next_stage)]


@for_each_trace
def test_folded_events_give_the_state_of_each_step_and_stages_follow_their_table(path: Path) -> None:
    trace = traces.trace_in(path)
    simulation = Simulation(settings_of(trace))
    fold = Fold(simulation.view())
    for command in traces.commands_of(trace):
        simulation.start(command)
        simulation.work()
        events = decode_events(encode_events(simulation.drain_events()))
        assert undeclared(events, simulation.release) == []
        fold.apply_all(events)
        assert observed.state(fold.to_view(), trace.release) == simulation.observed_state()
    assert fold.to_view() == simulation.view()


@for_each_trace
def test_slicing_a_run_and_restoring_checkpoints_changes_nothing(path: Path) -> None:
    trace = traces.trace_in(path)
    uninterrupted = Simulation(settings_of(trace))
    events: list[AnyEvent] = []
    for command in traces.commands_of(trace):
        uninterrupted.start(command)
        uninterrupted.work()
        events += uninterrupted.drain_events()
    sliced, sliced_events = _run_in_slices(trace, random.Random(path.name))
    assert encode_events(sliced_events) == encode_events(events)
    assert sliced.state_hash() == uninterrupted.state_hash()


def _run_in_slices(trace, source: random.Random) -> tuple[Simulation, list[AnyEvent]]:
    simulation = Simulation(settings_of(trace))
    events: list[AnyEvent] = []
    for command in traces.commands_of(trace):
        simulation.start(command)
        outcome = None
        while outcome is None:
            if source.random() < 20 / len(trace.steps):
                simulation = Simulation.restore(simulation.checkpoint())
            outcome = simulation.work(stop=lambda: source.random() < 0.5)
            events += simulation.drain_events()
    return simulation, events
