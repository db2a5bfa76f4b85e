"""`schedviz trace IN... -o DIR`: run schedviz-trace/1 files and write what was observed."""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click
import msgspec

from schedviz.cli.main import EXIT_REFUSED
from schedviz.cli.release_options import BY_TRACE, NO_CHOICE, ChosenRelease, release_options
from schedviz.cli.trace_files import Refused, find, read
from schedviz.terminal import say


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="IN...", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="The output folder.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=None, help="Files processed at once; default: one per core.")
@click.option("--call-extenders", "hosts", multiple=True, metavar="HOST:PORT", help="Call extenders at this host over HTTP; repeatable.")
@release_options(BY_TRACE)
@click.pass_context
def trace(
    ctx: click.Context, paths: tuple[Path, ...], output: Path, jobs: int | None, hosts: tuple[str, ...], chosen: ChosenRelease
) -> None:
    """Run trace files (.json or .json.xz; a folder stands for those in it) and write them to DIR with what was observed.

    Files keep their names. Exits with 2 if a file could not be used; the others are still written.
    """
    targets, problems = _targets(paths, output)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"{output}: the folder cannot be created: {error.strerror}") from None
    failures = _run_all(targets, jobs or os.cpu_count() or 1, hosts, chosen)
    for problem in [*problems, *failures]:
        say(problem, err=True)
    say(f"traces {len(targets) - len(failures)} written, {len(problems) + len(failures)} refused")
    if problems or failures:
        ctx.exit(EXIT_REFUSED)


def _targets(paths: Iterable[Path], output: Path) -> tuple[list[tuple[Path, Path]], list[str]]:
    """The output path of each file, and the files that cannot be used."""
    files, problems = find(paths)
    targets: dict[Path, Path] = {}
    for file in files:
        target = output / file.name
        if target in targets:
            problems.append(f"{file}: {targets[target]} has the same name and would also be written to {target}.")
        else:
            targets[target] = file
    return [(file, target) for target, file in targets.items()], problems


def _run_all(targets: list[tuple[Path, Path]], jobs: int, hosts: tuple[str, ...] = (), chosen: ChosenRelease = NO_CHOICE) -> list[str]:
    jobs = min(jobs, len(targets))
    if jobs <= 1:
        return [problem for target in targets if (problem := run_file(*target, hosts, chosen))]
    with ProcessPoolExecutor(jobs) as pool:
        return [problem for problem in pool.map(partial(run_file, hosts=hosts, chosen=chosen), *zip(*targets, strict=True)) if problem]


def run_file(source: Path, target: Path, hosts: tuple[str, ...] = (), chosen: ChosenRelease = NO_CHOICE) -> str:
    """Run one file and write it. Returns "" or the error. A refused configuration is recorded in the written file, too."""
    from schedviz.engine import run_trace
    from schedviz.ingest.trace_file import decode_trace
    from schedviz.kube.errors import KubeError
    from schedviz.sessions.extenders.addresses import EVERYWHERE
    from schedviz.sessions.extenders.http import HttpTransport

    try:
        document = run_trace(
            chosen.trace(decode_trace(read(source))), transport=HttpTransport(hosts, networks=EVERYWHERE) if hosts else None
        )
        _write(target, document)
    except Refused as error:
        return str(error)
    except KubeError as error:
        return f"{source}: {error}"
    except Exception as error:  # noqa: BLE001  (one file must not take the others with it)
        from schedviz.cli.error_messages import explain_bug

        return f"{source}: {explain_bug(error)}"
    refused = document.get("error")
    return f"{source}: config: {refused}" if refused else ""


def _write(path: Path, document: object) -> None:
    text = msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=1)
    data = lzma.compress(text, preset=1) if path.name.endswith(".xz") else text + b"\n"
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        raise Refused(f"{path}: it cannot be written: {error.strerror}.") from None
