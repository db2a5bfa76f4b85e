"""The command line of `schedviz experiment`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from schedviz.cli.error_messages import MultilineError
from schedviz.cli.lazy import LazyCommand, LazyGroup
from schedviz.terminal import say, say_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedviz.cli.remote.printing import ProgressLine
    from schedviz.experiments.errors import PlanError
    from schedviz.experiments.plans.plan_text import PlanText
    from schedviz.experiments.plans.trials import Trial
    from schedviz.experiments.plans.validation import CheckedPlan
    from schedviz.experiments.results.document import Results
    from schedviz.experiments.trials.pool import TrialPool
    from schedviz.experiments.trials.trial_result import TrialResult

_MODULE = "schedviz.cli.experiment"
#: A table with more columns, and fewer variants than columns, is printed with a row for each measure.
_MAX_COLUMNS = 10
#: Exit code: at least one trial failed; the results of the others were written.
EXIT_FAILED = 1

experiment = LazyGroup(
    lazy={
        "run": LazyCommand(_MODULE, "run", "Run a plan on this machine and print the results."),
        "tune": LazyCommand(_MODULE, "tune", "Search the space of a plan for the best variant (needs Optuna)."),
        "check": LazyCommand(_MODULE, "check", "Validate a plan, and estimate how long it takes."),
        "report": LazyCommand(_MODULE, "report", "Write the report of results that were saved as JSON."),
        "session": LazyCommand(_MODULE, "session", "Write a trial as a session file, which `schedviz import` opens at its end."),
        "measures": LazyCommand(_MODULE, "measures", "List the measures."),
    },
    help="Run a workload under many variants of a scheduler, and compare the results.",
    epilog="docs/experiments.md describes plans.",
)

_FILE = click.Path(dir_okay=False, path_type=Path)
_plan_argument = click.argument("path", metavar="PLAN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_trust_option = click.option("--trust-code", is_flag=True, help="Run the Python code that the plan names (its member `code`).")
_report_option = click.option("--report", metavar="FILE", type=_FILE, help="Write the report, one HTML file.")


_Command = TypeVar("_Command", bound=Callable[..., None])


def _run_options(command: _Command) -> _Command:
    """The plan, and the options of commands that run trials."""
    options = [
        _plan_argument,
        click.option("-j", "--jobs", type=click.IntRange(1, 256), help="Trials that run at once. Default: one for each core."),
        _report_option,
        click.option("--json", "json_file", metavar="FILE", type=_FILE, help="Write all results as JSON; `-`: print them."),
        click.option("--csv", "csv_file", metavar="FILE", type=_FILE, help="Write a line for each trial; `-`: print them."),
        click.option(
            "--parquet",
            "parquet_file",
            metavar="FILE",
            type=_FILE,
            help="Write the columns of the CSV as Parquet. Needs pip install 'schedviz[parquet]'.",
        ),
        click.option("--no-times", is_flag=True, help="Leave out measured times, so that equal plans give equal bytes."),
        _trust_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@_run_options
@click.option(
    "--reuse",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take the trials that an earlier run of the plan with --json had, and run only new variants and seeds.",
)
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
    reuse: Path | None,
    no_times: bool,
    trust_code: bool,
) -> None:
    """Run PLAN on this machine, without a server, and print a row for each variant.

    A cell has the mean over the seeds, and in parentheses the difference to the baseline with its 95% interval. Exits with 1 if a
    trial failed.
    """
    from schedviz.experiments.results.document import results_of
    from schedviz.experiments.trials.pool import TrialPool, WorkerProcesses

    if parquet_file is not None:
        _require_parquet()
    read = _read_plan(path)
    with WorkerProcesses(min(jobs or os.cpu_count() or 1, len(read.trials))) as processes:
        earlier = None if reuse is None else _earlier(reuse, read)
        checked = _checked(path, read, trust_code=trust_code)
        pool = TrialPool(checked, processes)
        found = _run(pool, checked.trials) if earlier is None else _run_new(checked, pool, earlier)
    results = results_of(checked.experiment, found, volatile=not no_times, earlier=None if earlier is None else earlier.results)
    _write_results(results, report=report, json_file=json_file, csv_file=csv_file, parquet_file=parquet_file)
    if Path("-") not in (json_file, csv_file):
        _print(results, chosen=checked.plan.measures is not None)
    failed = sum(bool(result.error) for result in found)
    if failed:
        say(f"{failed} of {len(found)} trials failed.", err=True)
        ctx.exit(EXIT_FAILED)


@click.command()
@_run_options
def tune(
    path: Path,
    *,
    jobs: int | None,
    report: Path | None,
    json_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    no_times: bool,
    trust_code: bool,
) -> None:
    """Search the space of PLAN (its member `tune`) for the variant that is best, and print it.

    The plan's variants run first; candidates are compared with its baseline. A search with the same plan and version tries the same
    candidates. It needs Optuna: `pip install 'schedviz[tune]'`.
    """
    from schedviz.experiments.errors import PlanError
    from schedviz.experiments.results.document import results_of
    from schedviz.experiments.tuning.report import printed
    from schedviz.experiments.tuning.search import TuneError, search

    if parquet_file is not None:
        _require_parquet()
    checked = checked_plan(path, trust_code=trust_code)
    with _progress() as shown:
        try:
            found = search(checked, jobs=jobs or os.cpu_count() or 1, progress=lambda done, total: shown.say(f"{done} of {total} variants"))
        except TuneError as error:
            raise click.ClickException(f"{path}: {error}.") from None
        except PlanError as error:
            raise MultilineError(*(f"{path}: {fault}" for fault in error.faults)) from None
    results = results_of(found.experiment, found.results, volatile=not no_times, tuning=found.tuning)
    _write_results(results, report=report, json_file=json_file, csv_file=csv_file, parquet_file=parquet_file)
    if Path("-") not in (json_file, csv_file):
        for line in printed(results):
            say(line)


@click.command()
@_plan_argument
@_trust_option
def check(path: Path, *, trust_code: bool) -> None:
    """Validate PLAN as `run` does, and print its variants, the number of its trials, and an estimate of their time.

    The estimate runs a part of the first trial for a second.
    """
    from schedviz.experiments.plans.validation import estimate

    checked = checked_plan(path, trust_code=trust_code)
    base = checked.base
    say(f"{base.nodes:,} nodes, {base.pending:,} pods to schedule")
    for variant in checked.variants:
        mark = " (baseline)" if variant.name == checked.baseline else ""
        say(f"  {variant.name}{mark}")
    about = estimate(checked)
    cores = os.cpu_count() or 1
    one = in_words(about.seconds_per_trial)
    together = in_words(about.seconds / min(cores, about.trials))
    say(f"{len(checked.variants):,} variants, {about.trials:,} trials of about {one}: about {together} on {cores} cores")
    if checked.plan.tune is not None:
        more = checked.plan.tune.candidates * len(checked.plan.all_seeds)
        longer = in_words(about.seconds_per_trial * more / min(cores, checked.plan.tune.batch * len(checked.plan.all_seeds)))
        say(f"tune: at most {checked.plan.tune.candidates:,} candidates, {more:,} trials more: about {longer}")


@click.command()
@click.argument("path", metavar="RESULTS", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The HTML file.")
def report(path: Path, output: Path) -> None:
    """Write the report of RESULTS, which `run --json` wrote."""
    _write_report(output, _read_results(path))


@click.command()
@_plan_argument
@click.argument("number", metavar="TRIAL", type=click.IntRange(min=0))
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The `.schedviz` file."
)
@_trust_option
def session(path: Path, number: int, output: Path, *, trust_code: bool) -> None:
    """Run TRIAL of PLAN again, with everything recorded, and write it as a session file.

    TRIAL is a number of the CSV's column `trial`, from 0.
    """
    from schedviz.experiments.trials.trial_session import trial_session

    checked = checked_plan(path, trust_code=trust_code)
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
    from schedviz.experiments.trials.series import TITLES

    width = max(len(each.name) for each in BUILT_IN)
    for each in BUILT_IN:
        better = f" ({each.info.better} is better)" if each.info.better else ""
        say(f"{each.name:{width}}  {each.info.title}{better}")
    for point in entry_points(group=GROUP):
        say(f"{point.name:{width}}  installed: {point.value}")
    say()
    for name, (title, _) in TITLES.items():
        say(f"{name:{width}}  during the trial: {title}")


def checked_plan(path: Path, *, trust_code: bool = False) -> CheckedPlan:
    """The plan in a file, validated. `trust_code`: its code may run. Raises `click.ClickException` with a line for each fault."""
    return _checked(path, _read_plan(path), trust_code=trust_code)


def _read_plan(path: Path) -> PlanText:
    """The plan in a file, whose form is right."""
    from schedviz.experiments.errors import PlanError
    from schedviz.experiments.plans.plan_text import read_plan

    try:
        return read_plan(path)
    except PlanError as error:
        raise _refused(path, error) from None


def _checked(path: Path, read: PlanText, *, trust_code: bool) -> CheckedPlan:
    from schedviz.experiments.errors import PlanError
    from schedviz.experiments.plans.validation import check_plan

    try:
        return check_plan(read, path.parent, is_trusted=trust_code)
    except PlanError as error:
        raise _refused(path, error) from None


def _refused(path: Path, error: PlanError) -> MultilineError:
    lines = [f"{path}{f':{fault.line}' if fault.line else ''}: {fault.without_line}" for fault in error.faults]
    return MultilineError(*lines)


class _Earlier(NamedTuple):
    """An earlier run."""

    path: Path
    results: Results
    #: By the numbers that the trials have now.
    known: dict[int, TrialResult]


def _read_results(path: Path) -> Results:
    import msgspec

    from schedviz.experiments.results.document import decode_results

    try:
        return decode_results(path.read_bytes())
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{path}: it does not have the results of an experiment: {error}") from None


def _earlier(path: Path, read: PlanText) -> _Earlier:
    from schedviz.experiments.plans.extending import ResultsNotReusable, reusable

    results = _read_results(path)
    try:
        return _Earlier(path, results, reusable(results, read))
    except ResultsNotReusable as error:
        raise click.ClickException(f"{path}: the results cannot be used: {error}.") from None


def _run_new(checked: CheckedPlan, pool: TrialPool, earlier: _Earlier) -> list[TrialResult]:
    """Run the trials that the earlier run does not have, and one that it has, which must have the same numbers."""
    from schedviz.experiments.plans.extending import ResultsNotReusable, require_same

    known = earlier.known
    again = min(known, default=None)
    new = [trial for trial in checked.trials if trial.number not in known or trial.number == again]
    found = _run(pool, new)
    results = {**known, **{result.number: result for result in found}}
    if again is not None:
        try:
            require_same(known[again], results[again])
        except ResultsNotReusable as error:
            raise click.ClickException(f"{earlier.path}: the results cannot be used: {error}. Run without --reuse.") from None
        say(f"{len(known)} of {len(checked.trials)} trials are of {earlier.path}", err=True)
    return [results[number] for number in sorted(results)]


def _run(pool: TrialPool, trials: Sequence[Trial]) -> list[TrialResult]:
    total = len(trials)
    found: list[TrialResult] = []
    began = time.monotonic()
    with _progress() as shown:
        shown.say(f"0 of {total} trials")
        for result in pool.run(trials):
            found.append(result)
            left = (time.monotonic() - began) / len(found) * (total - len(found))
            shown.say(f"{len(found)} of {total} trials, about {in_words(left)} left")
    return found


@contextmanager
def _progress() -> Iterator[ProgressLine]:
    from schedviz.cli.remote.printing import ProgressLine

    shown = ProgressLine()
    try:
        yield shown
    finally:
        shown.end()


def _print(results: Results, *, chosen: bool) -> None:
    from rich.table import Table

    from schedviz.experiments.results.summary import summary
    from schedviz.experiments.results.table import table
    from schedviz.terminal import show

    lines = table(results, keys=[column.key for column in results.columns] if chosen else None)
    is_turned = len(lines[0]) > max(_MAX_COLUMNS, len(lines))
    if is_turned:
        lines = [list(line) for line in zip(*lines, strict=True)]
    head, *rows = lines
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(head):
        shown.add_column(name, justify="right" if index else "left", overflow="fold", no_wrap=is_turned and not index)
    for row in rows:
        shown.add_row(*row)
    show(shown)
    say()
    found = summary(results)
    for line in [] if found is None else found.lines():
        say(line)


def _write_results(
    results: Results, *, report: Path | None, json_file: Path | None, csv_file: Path | None, parquet_file: Path | None
) -> None:
    from schedviz.experiments.results.document import encode_results
    from schedviz.experiments.results.table import csv_of

    if json_file is not None:
        _write(json_file, encode_results(results).decode())
    if csv_file is not None:
        _write(csv_file, csv_of(results))
    if parquet_file is not None:
        _write_parquet(parquet_file, results)
    if report is not None:
        _write_report(report, results)


def _write_report(path: Path, results: Results) -> None:
    from schedviz.experiments.report import html_report

    _write(path, html_report(results))


def _require_parquet() -> None:
    """Refuse before anything runs."""
    from schedviz.experiments.results.parquet import ParquetUnavailable, require_pyarrow

    try:
        require_pyarrow()
    except ParquetUnavailable as error:
        raise click.ClickException(f"{error}.") from None


def _write_parquet(path: Path, results: Results) -> None:
    from schedviz.experiments.results.parquet import parquet_of

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
