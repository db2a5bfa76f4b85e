"""`schedviz check`."""

from __future__ import annotations

import json
import os
from collections import Counter

import click
import msgspec

from schedviz.cli.check.finding import Finding
from schedviz.terminal import say, say_json

EXIT_FOUND = 1


@click.command()
@click.option("--deploy", is_flag=True, help="Also look at every setting that would hurt a server for many.")
@click.option("--workers/--no-workers", default=None, help="Whether workers are to be up already (without --deploy: yes).")
@click.option("--strict", is_flag=True, help="Leave with 1 for warnings, too.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(*, deploy: bool, workers: bool | None, strict: bool, output: str) -> int:
    """Say what would keep this server from running well, and what to do about it.

    Reads the same environment as the server. Leaves with 0 when nothing is wrong, 1 when something is.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import django

    django.setup()
    findings = _all_found(deploy=deploy, workers=not deploy if workers is None else workers)
    if output == "json":
        say_json(json.dumps(msgspec.to_builtins(findings), indent=2))
    else:
        _print(findings)
    levels = Counter(str(finding.level) for finding in findings)
    return EXIT_FOUND if levels["error"] or (strict and findings) else 0


def _all_found(*, deploy: bool, workers: bool) -> list[Finding]:
    from django.conf import settings

    from schedviz.cli.check import services_check, settings_check

    findings = services_check.found(workers=workers)
    if deploy:
        findings += settings_check.found(settings_check.Configured(settings, os.environ))
    return sorted(findings, key=lambda finding: finding.level)


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        say(f"{finding.level:<8} {finding.setting} {finding.what}.")
        say(f"{'':<8} Do: {finding.do}.")
    levels = Counter(str(finding.level) for finding in findings)
    say(f"{levels['error']} errors, {levels['warning']} warnings." if findings else "Nothing is wrong.")
