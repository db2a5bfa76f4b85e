"""`schedviz conformance DIR...`: run recorded traces of the real scheduler through the engine and report differences."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from schedviz.cli.conformance.recording_differences import differences
from schedviz.cli.main import EXIT_REFUSED
from schedviz.cli.release_options import BY_TRACE, NO_CHOICE, ChosenRelease, release_options
from schedviz.cli.trace_files import Refused, find, read
from schedviz.terminal import say

if TYPE_CHECKING:
    from schedviz.ingest.trace_file import TraceFile

EXIT_DIFFERENT = 1


class Verdict(NamedTuple):
    """The result of one recorded trace: `problem` if it cannot be used, otherwise the number of differences and the first of them."""

    path: Path
    differences: int = 0
    first: tuple[str, ...] = ()
    problem: str = ""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@click.option("--show", type=click.IntRange(min=0), default=3, show_default=True, help="Number of differences to print for each trace.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=None, help="Files processed at once; default: one per core.")
@click.option(
    "--restore",
    metavar="SEED",
    help="Compare the engine with itself, restored from checkpoints at random points (also between stages) chosen by SEED.",
)
@release_options(BY_TRACE)
@click.pass_context
def conformance(
    ctx: click.Context, paths: tuple[Path, ...], show: int, jobs: int | None, restore: str | None, chosen: ChosenRelease
) -> None:
    """Compare the engine with recordings of the real scheduler: the trace files (.json or .json.xz) of folders.

    With --restore, the files need no recordings: each runs twice, the second time with 40 saves and restores at random places. With
    --release, the engine simulates that release instead of the recorded one: the differences are what an upgrade changes.

    The last line has the number of files that agree, and the time. Exits with 0 if all agree, 1 if some differ, 2 if a file cannot be
    used; the others are still compared.
    """
    began = time.monotonic()
    files, problems = find(paths)
    for problem in problems:
        say(problem, err=True)
    agreed, refused = 0, len(problems)
    with _verdicts(files, jobs or os.cpu_count() or 1, partial(judge, show=show, restore=restore, chosen=chosen)) as verdicts:
        for verdict in verdicts:
            agreed += not (verdict.problem or verdict.differences)
            refused += bool(verdict.problem)
            _print_verdict(verdict)
    total = len(files) + len(problems)
    differ = total - agreed - refused
    parts = [f"{differ} differ"] * bool(differ) + [f"{refused} cannot be used"] * bool(refused)
    say(", ".join([f"agreed {agreed}/{total}", *parts, f"{time.monotonic() - began:.1f} s"]))
    if refused:
        ctx.exit(EXIT_REFUSED)
    if differ:
        ctx.exit(EXIT_DIFFERENT)


def _print_verdict(verdict: Verdict) -> None:
    if verdict.problem:
        say(verdict.problem, err=True)
    elif verdict.differences:
        say(f"{verdict.path}: {verdict.differences} {'difference' if verdict.differences == 1 else 'differences'}")
        for line in verdict.first:
            say(f"    {line}")


@contextmanager
def _verdicts(files: Sequence[Path], jobs: int, judge: Callable[[Path], Verdict]) -> Iterator[Iterator[Verdict]]:
    """The verdicts on files, unordered, each as soon as it is available."""
    if min(jobs, len(files)) <= 1:
        yield (judge(file) for file in files)
        return
    # The largest first, so that no core is left with a long one at the end.
    files = sorted(files, key=_size, reverse=True)
    pool = ProcessPoolExecutor(min(jobs, len(files)))
    try:
        running = [pool.submit(judge, file) for file in files]
        yield (future.result() for future in as_completed(running))
    finally:
        pool.shutdown(cancel_futures=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def judge(path: Path, *, show: int, restore: str | None, chosen: ChosenRelease = NO_CHOICE) -> Verdict:
    """Run one recorded trace and compare; keeps the first `show` differences."""
    from schedviz.ingest.trace_file import decode_trace
    from schedviz.kube.errors import KubeError

    try:
        trace = chosen.trace(decode_trace(read(path), check_objects=False))
        _validate_objects(trace)
        mismatches = _with_recording(path, trace) if restore is None else _with_itself(path, trace, restore)
    except Refused as error:
        return Verdict(path, problem=str(error))
    except KubeError as error:
        return Verdict(path, problem=f"{path}: {error}")
    except Exception as error:  # noqa: BLE001  (one bad file must not end the run)
        from schedviz.cli.error_messages import explain_bug

        return Verdict(path, problem=f"{path}: {explain_bug(error)}")
    return Verdict(path, len(mismatches), tuple(mismatches[:show]))


def _validate_objects(trace: TraceFile) -> None:
    """Refuse what no API server would accept, unless the recording expects that. Raises `DecodeError`."""
    from schedviz.kube import codec
    from schedviz.kube.errors import DecodeError
    from schedviz.trace.commands import Create, Update

    for index, (written, step) in enumerate(zip(trace.document["steps"], trace.steps, strict=True)):
        observed = written.get("observed")
        if isinstance(step, Create | Update) and not (isinstance(observed, dict) and observed.get("error")):
            try:
                codec.from_dict(step.object, strict=True)
            except DecodeError as error:
                raise error.inside(f"steps[{index}].object") from None


def _with_recording(path: Path, trace: TraceFile) -> list[str]:
    from schedviz.engine import run_trace

    _validate_recording(path, trace.document)
    # Encoded and decoded, as if it came from a file.
    produced = msgspec.json.decode(msgspec.json.encode(run_trace(trace)))
    return _compare(path, trace.document, produced)


def _with_itself(path: Path, trace: TraceFile, seed: str) -> list[str]:
    from schedviz.cli.conformance import restore_check
    from schedviz.engine import ConfigurationError

    try:
        return list(restore_check.differences(trace, seed=f"{seed} {path.name}"))
    except ConfigurationError as error:
        if trace.document.get("error"):
            # The recording expects the refusal, so nothing runs.
            return []
        raise Refused(f"{path}: config: {error}") from None


def _compare(path: Path, recorded: dict[str, Any], produced: dict[str, Any]) -> list[str]:
    if produced.get("error") and not recorded.get("error"):
        raise Refused(f"{path}: config: {produced['error']}")
    try:
        return list(differences(recorded, produced))
    except (AttributeError, LookupError, TypeError) as error:
        # The engine's output is complete, so the recording is malformed.
        raise Refused(f'{path}: "observed" does not have the shape of a recording ({error}).') from None


def _validate_recording(path: Path, document: dict[str, object]) -> None:
    """Refuse a file without anything to compare."""
    steps = document.get("steps")
    assert isinstance(steps, list)
    for index, step in enumerate(steps):
        if not isinstance(step.get("observed", {}), dict):
            raise Refused(f"{path}: steps[{index}].observed: expected an object, as in a recording.")
    if not document.get("error") and steps and not any(step.get("observed") for step in steps):
        raise Refused(f'{path}: no step has "observed": this is an input, not a recording. `schedviz trace` runs it.')
