"""A trial as a `.schedviz` file: the same run, with everything recorded, so that it opens as a session at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from schedviz import __version__
from schedviz.engine import Outcome
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.experiments.inputs.trial_inputs import objects_of_trial
from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.trials.run_trial import TrialRun, never
from schedviz.ingest import session_file
from schedviz.ingest.session_file import AnyLine, CommandLine, EventsLine, Manifest, ObjectLine, view_digest
from schedviz.kube import codec
from schedviz.kube.gc_tuning import without_gc
from schedviz.trace.commands import AnyCommand, encode_command
from schedviz.trace.events import AnyEvent, encode_events


class _Recording:
    """The lines of a run."""

    def __init__(self) -> None:
        self.commands: list[CommandLine] = []
        self.events: list[EventsLine] = []

    def add_events(self, events: list[AnyEvent]) -> None:
        if events:
            self.events.append(EventsLine(msgspec.Raw(encode_events(events))))

    def command_ended(self, seq: int, command: AnyCommand, outcome: Outcome) -> None:
        self.commands.append(CommandLine(seq, msgspec.Raw(encode_command(command)), msgspec.to_builtins(outcome)))


def trial_session(trial: Trial, base: BaseCluster, plan: Plan, *, stop: Callable[[], bool] = never) -> Iterator[bytes]:
    """The file, in pieces. Runs the trial, at the cost of recording.

    Raises `PluginFailedError` if a user's plugin fails, and `TrialStopped` if `stop`, which is called now and then, returns True.
    """
    recording = _Recording()
    with without_gc():
        run = TrialRun(trial, base, plan, stop, recording=recording)
        run.run()
    simulation = run.simulation
    view = simulation.view()
    objects = objects_of_trial(trial, base, plan)
    manifest = Manifest(
        format=session_file.FORMAT,
        engine_version=__version__,
        name=f"{plan.name}: {trial.name}"[:200],
        settings=msgspec.to_builtins(simulation.settings),
        source={"experiment": plan.name, "trial": trial.number},
        objects=len(objects),
        commands=len(recording.commands),
        answers=0,
        after_event=0,
        last_event=simulation.event,
        last_cycle=view.cycle.cycle if view.cycle else 0,
        clock_seconds=view.clock_seconds,
        view_digest=view_digest(view),
    )
    lines: list[AnyLine] = [*(ObjectLine(codec.to_dict(obj)) for obj in objects), *recording.commands, *recording.events]
    return session_file.write(manifest, lines)
