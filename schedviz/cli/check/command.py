"""`schedviz check`: print the problems of a server's configuration and connections, with a remedy for each."""

from __future__ import annotations

import os
from collections import Counter

import click

from schedviz.cli.check.finding import Finding
from schedviz.cli.django_setup import set_up_django
from schedviz.terminal import say, say_as_json

#: Exit code: there are errors, or with --strict also warnings.
EXIT_FOUND = 1


@click.command()
@click.option("--deploy", is_flag=True, help="Also check every setting that is unsafe on a server for many users.")
@click.option("--workers/--no-workers", default=None, help="Whether workers must be running (default without --deploy: yes).")
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings, too.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(*, deploy: bool, workers: bool | None, strict: bool, output: str) -> int:
    """Check the configuration and connections of this server, with a remedy for each problem.

    Reads the same environment as the server. Exits with 1 if there is an error or, with --strict, a warning; otherwise with 0.
    """
    set_up_django()
    findings = _sorted_findings(deploy=deploy, workers=not deploy if workers is None else workers)
    if output == "json":
        say_as_json(findings)
    else:
        _print(findings)
    levels = Counter(str(finding.level) for finding in findings)
    return EXIT_FOUND if levels["error"] or (strict and findings) else 0


def _sorted_findings(*, deploy: bool, workers: bool) -> list[Finding]:
    from django.conf import settings

    from schedviz.cli.check import services_check, settings_check

    findings = services_check.findings_of(workers=workers)
    configured = settings_check.Configured(settings, os.environ)
    findings += settings_check.findings_of(configured) if deploy else settings_check.wrong_in(configured)
    return sorted(findings, key=lambda finding: finding.level)


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        say(f"{finding.level:<8} {finding.setting} {finding.what}.")
        say(f"{'':<8} Fix: {finding.remedy}.")
    levels = Counter(str(finding.level) for finding in findings)
    say(f"{levels['error']} errors, {levels['warning']} warnings." if findings else "No problems found.")
