"""Everyday cases: each is explained with the reason that it claims, and its fix places the pod."""

from __future__ import annotations

import json
from importlib import resources

import msgspec
import pytest

from schedviz.engine import Simulation, settings_of
from schedviz.explain.thumbnail import thumbnail
from schedviz.explain.why import why_pending
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.kube.core import Pod
from schedviz.samples.cases import NAMES, Case, cases
from schedviz.trace.commands import AnyCommand, convert_command


def do(simulation: Simulation, command: AnyCommand) -> None:
    simulation.start(command)
    outcome = simulation.work()
    assert outcome is not None
    assert not outcome.error, outcome
    simulation.drain_events()
    simulation.drain_cycles()


def played(case: Case) -> Simulation:
    trace = trace_from_dict(case.trace)
    simulation = Simulation(settings_of(trace))
    for step in trace.steps:
        assert isinstance(step, AnyCommand)
        do(simulation, step)
    return simulation


def by_name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", cases(), ids=by_name)
def test_the_explanation_of_a_case_has_the_claimed_reason(case: Case) -> None:
    explanation = why_pending(played(case), case.pod)
    if explanation.standing == "gated":
        assert case.reason in explanation.sentence
        return
    assert explanation.standing in ("pending", "nominated")
    assert explanation.fits == ()
    assert explanation.main is not None
    assert explanation.main.reason == case.reason


@pytest.mark.parametrize("case", cases(), ids=by_name)
def test_the_fix_of_a_case_places_the_pod(case: Case) -> None:
    simulation = played(case)
    for command in case.commands:
        do(simulation, convert_command(command))
    pod_ = simulation.cluster.find("Pod", case.pod)
    assert isinstance(pod_, Pod)
    assert pod_.spec.node_name


def test_the_stored_thumbnails_equal_those_of_the_engine() -> None:
    """Run `make gen` after a change of a case."""
    stored = json.loads((resources.files("schedviz.samples") / "cases/thumbnails.json").read_text())
    for case in cases():
        simulation = played(case)
        assert stored[case.name] == json.loads(msgspec.json.encode(thumbnail(simulation, why_pending(simulation, case.pod)))), case.name


def test_the_gallery_has_every_case_and_no_other() -> None:
    files = {
        file.name.removesuffix(".yaml") for file in (resources.files("schedviz.samples") / "cases").iterdir() if file.name.endswith(".yaml")
    }
    assert files == set(NAMES)
