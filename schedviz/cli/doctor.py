"""`schedviz doctor FILE...`: differences between API objects, cache, snapshot and a SIGUSR2 dump, and their likely causes."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from schedviz.cli.loading import examined, loaded, print_warnings
from schedviz.cli.release_options import BY_FILES, ChosenRelease, release_options
from schedviz.explain.advice_label import NEXT_STEP
from schedviz.terminal import say, say_as_json, say_wrapped

if TYPE_CHECKING:
    from schedviz.explain.doctor import Examination, Finding

#: Exit code: something differs.
EXIT_DIFFERENT = 1


@click.command()
@release_options(BY_FILES)
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--scheduler-name", "names", multiple=True, metavar="NAME", help="A profile of the scheduler; default: those of its configuration."
)
@click.option("-o", "--output", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format.")
@click.pass_context
def doctor(
    ctx: click.Context, paths: tuple[Path, ...], names: tuple[str, ...], form: Literal["text", "json"], chosen: ChosenRelease
) -> None:
    """Compare the scheduler's state with the API server's, value by value, and name the likely cause of each difference.

    FILE... are, in any order: the log of a kube-scheduler after SIGUSR2, the output of
    `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`, and the KubeSchedulerConfiguration.
    For a trace, the engine's own API, informers, cache, queue and snapshot are compared. Exits with 0 if
    nothing differs, 1 if something does, 2 if a file cannot be used.
    """
    imported = loaded(paths)
    print_warnings(imported, chosen)
    examinations = examined(imported, chosen, names=names)
    if form == "json":
        say_as_json(examinations)
    else:
        for examination in examinations:
            _print(examination)
    if any(examination.differences for examination in examinations):
        ctx.exit(EXIT_DIFFERENT)


def _print(examination: Examination) -> None:
    from schedviz.explain.doctor.verdict import verdict
    from schedviz.trace.phrase import as_sentence

    count = len(examination.differences)
    say_wrapped(as_sentence(verdict(examination).text), bold=True)
    say_wrapped(f"{examination.compared} ({examination.nodes} nodes, {examination.pods} pods): {_differences(count)}")
    if examination.release:
        say(f"Requests are added up as kube-scheduler {examination.release} does.")
    for finding, after in zip_longest(examination.findings, examination.findings[1:]):
        # What to do about several differences is said once, after the last of them.
        _print_finding(finding, with_advice=after is None or after.advice != finding.advice)


def _print_finding(finding: Finding, *, with_advice: bool) -> None:
    from schedviz.trace.phrase import whole_sentence

    say()
    say_wrapped(f"{'✗' if finding.differs else 'Note:'} {whole_sentence(finding.sentence)}", bold=finding.differs)
    if finding.cause:
        say_wrapped(f"Cause: {whole_sentence(finding.cause)}", indent=4)
    if finding.advice and with_advice:
        say_wrapped(f"{NEXT_STEP} {whole_sentence(finding.advice)}", indent=4)


def _differences(count: int) -> str:
    return "nothing differs" if count == 0 else "1 difference" if count == 1 else f"{count} differences"
