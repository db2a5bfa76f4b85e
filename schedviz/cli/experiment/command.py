"""The command line of `schedviz experiment`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedviz.cli.error_messages import SeveralLines
from schedviz.cli.lazy import LazyCommand, LazyGroup
from schedviz.terminal import say, say_exact

if TYPE_CHECKING:
    from schedviz.experiments.results import Results
    from schedviz.experiments.trial_result import TrialResult
    from schedviz.experiments.validation import CheckedPlan

_MODULE = "schedviz.cli.experiment.command"
#: Exit code: at least one trial failed; the results of the others were written.
EXIT_FAILED = 1

experiment = LazyGroup(
    lazy={
        "run": LazyCommand(_MODULE, "run", "Run a plan on this machine and print the results."),
        "check": LazyCommand(_MODULE, "check", "Validate a plan, and estimate how long it takes."),
        "report": LazyCommand(_MODULE, "report", "Write the report of results that were saved as JSON."),
        "session": LazyCommand(_MODULE, "session", "Write a trial as a session file, which `schedviz import` opens at its end."),
        "measures": LazyCommand(_MODULE, "measures", "List the measures."),
    },
    help="Run a workload under many variants of a scheduler, and compare the results.",
    epilog="docs/experiments.md describes plans.",
)

_plan_argument = click.argument("path", metavar="PLAN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_report_option = click.option(
    "--report", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write the report, one HTML file."
)


@click.command()
@_plan_argument
@click.option("-j", "--jobs", type=click.IntRange(1, 256), help="Trials that run at once. Default: one for each core.")
@_report_option
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all results as JSON; `-`: print them.",
)
@click.option(
    "--csv",
    "csv_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a line for each trial; `-`: print them.",
)
@click.option(
    "--parquet",
    "parquet_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the columns of the CSV as Parquet. Needs pip install 'schedviz[parquet]'.",
)
@click.option("--no-times", is_flag=True, help="Leave out measured times, so that equal plans give equal bytes.")
@click.pass_context
def run(
    ctx: click.Context,
    path: Path,
    *,
    jobs: int | None,
    report: Path | None,
    json_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    no_times: bool,
) -> None:
    """Run PLAN on this machine, without a server, and print a row for each variant.

    A cell has the mean over the seeds, and in parentheses the difference to the baseline with its 95 % interval. Exits with 1 if a
    trial failed.
    """
    from schedviz.experiments.results import encode_results
    from schedviz.experiments.table import csv_of

    if parquet_file is not None:
        _require_parquet()
    checked = checked_plan(path)
    trial_results = _run(checked, jobs or os.cpu_count() or 1)
    results = _results(checked, trial_results, volatile=not no_times)
    if json_file is not None:
        _write(json_file, encode_results(results).decode())
    if csv_file is not None:
        _write(csv_file, csv_of(results))
    if parquet_file is not None:
        _write_parquet(parquet_file, results)
    if report is not None:
        _write_report(report, results)
    if Path("-") not in (json_file, csv_file):
        _print(results, chosen=checked.plan.measures is not None)
    failed = sum(bool(result.error) for result in trial_results)
    if failed:
        say(f"{failed} of {len(trial_results)} trials failed.", err=True)
        ctx.exit(EXIT_FAILED)


@click.command()
@_plan_argument
def check(path: Path) -> None:
    """Validate PLAN as `run` does, and print its variants, the number of its trials, and an estimate of their time.

    The estimate runs a part of the first trial for a second.
    """
    from schedviz.experiments.validation import estimate

    checked = checked_plan(path)
    base = checked.base
    say(f"{base.nodes:,} nodes, {base.pending:,} pods to schedule")
    for variant in checked.variants:
        mark = " (baseline)" if variant.name == checked.baseline else ""
        say(f"  {variant.name}{mark}")
    about = estimate(checked)
    cores = os.cpu_count() or 1
    per_trial = in_words(about.seconds_per_trial)
    together = in_words(about.seconds / min(cores, about.trials))
    say(f"{len(checked.variants):,} variants, {about.trials:,} trials of about {per_trial}: about {together} on {cores} cores")


@click.command()
@click.argument("path", metavar="RESULTS", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The HTML file.")
def report(path: Path, output: Path) -> None:
    """Write the report of RESULTS, which `run --json` wrote."""
    import msgspec

    from schedviz.experiments.results import decode_results

    try:
        results = decode_results(path.read_bytes())
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{path}: it does not have the results of an experiment: {error}") from None
    _write_report(output, results)


@click.command()
@_plan_argument
@click.argument("number", metavar="TRIAL", type=click.IntRange(min=0))
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The `.schedviz` file."
)
def session(path: Path, number: int, output: Path) -> None:
    """Run TRIAL of PLAN again, with everything recorded, and write it as a session file.

    TRIAL is a number of the CSV's column `trial`, from 0.
    """
    from schedviz.experiments.trial_session import trial_session

    checked = checked_plan(path)
    if number >= len(checked.trials):
        raise click.ClickException(f"there is no trial {number}: the plan has trials 0 to {len(checked.trials) - 1}")
    try:
        with output.open("wb") as file:
            file.writelines(trial_session(checked.trials[number], checked.base, checked.plan))
    except OSError as error:
        raise click.ClickException(f"{output}: {error.strerror}.") from None
    say(f"{output} written. Open it with `schedviz import {output}`.")


@click.command()
def measures() -> None:
    """List the measures that a plan can name, and the series that every trial has."""
    from importlib.metadata import entry_points

    from schedviz.experiments.measures.registry import BUILT_IN, GROUP
    from schedviz.experiments.series import TITLES

    width = max(len(measure.name) for measure in BUILT_IN)
    for measure in BUILT_IN:
        better = f" ({measure.info.better} is better)" if measure.info.better else ""
        say(f"{measure.name:{width}}  {measure.info.title}{better}")
    for point in entry_points(group=GROUP):
        say(f"{point.name:{width}}  installed: {point.value}")
    say()
    for name, (title, _) in TITLES.items():
        say(f"{name:{width}}  during the trial: {title}")


def checked_plan(path: Path) -> CheckedPlan:
    """The plan in a file, validated. Raises `click.ClickException` with a line for each fault."""
    from schedviz.experiments.errors import PlanError
    from schedviz.experiments.reading import read_plan
    from schedviz.experiments.validation import check_plan

    try:
        return check_plan(read_plan(path), path.parent)
    except PlanError as error:
        lines = [f"{path}{f':{fault.line}' if fault.line else ''}: {fault.without_line}" for fault in error.faults]
        raise SeveralLines(*lines) from None


def _run(checked: CheckedPlan, jobs: int) -> list[TrialResult]:
    from schedviz.cli.remote.printing import Progress
    from schedviz.experiments.pool import run_all

    progress, total = Progress(), len(checked.trials)
    trial_results: list[TrialResult] = []
    began = time.monotonic()
    progress.say(f"0 of {total} trials")
    try:
        for result in run_all(checked, jobs=jobs):
            trial_results.append(result)
            remaining = (time.monotonic() - began) / len(trial_results) * (total - len(trial_results))
            progress.say(f"{len(trial_results)} of {total} trials, about {in_words(remaining)} left")
    finally:
        progress.end()
    return trial_results


def _results(checked: CheckedPlan, trial_results: list[TrialResult], *, volatile: bool) -> Results:
    from schedviz.experiments.results import results_of

    return results_of(checked.experiment, trial_results, volatile=volatile)


def _print(results: Results, *, chosen: bool) -> None:
    from rich.table import Table

    from schedviz.experiments.summary import summary
    from schedviz.experiments.table import table
    from schedviz.terminal import show

    head, *rows = table(results, keys=[column.key for column in results.columns] if chosen else None)
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(head):
        shown.add_column(name, justify="right" if index else "left", overflow="fold")
    for row in rows:
        shown.add_row(*row)
    show(shown)
    say()
    for sentence in summary(results):
        say(sentence)


def _write_report(path: Path, results: Results) -> None:
    from schedviz.experiments.report import html_report

    _write(path, html_report(results))


def _require_parquet() -> None:
    """Refuse before anything runs."""
    from schedviz.experiments.parquet import ParquetUnavailable, require_pyarrow

    try:
        require_pyarrow()
    except ParquetUnavailable as error:
        raise click.ClickException(f"{error}.") from None


def _write_parquet(path: Path, results: Results) -> None:
    from schedviz.experiments.parquet import parquet_of

    _write_bytes(path, parquet_of(results))


def _write(path: Path, text: str) -> None:
    if path == Path("-"):
        say_exact(text)
        return
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from None
    say(f"{path} written", err=True)


def in_words(seconds: float) -> str:
    """A duration for people."""
    if seconds < 10:
        return f"{max(seconds, 0.1):.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
