"""`schedviz config FILE`: check a KubeSchedulerConfiguration as kube-scheduler does, or convert an older one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from schedviz.cli.main import EXIT_REFUSED
from schedviz.cli.release_options import BY_DEFAULT, ChosenRelease, release_options
from schedviz.terminal import say, say_as_json, say_exact

#: Well above the size of any real configuration.
MAX_BYTES = 4 << 20


@click.command()
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--convert", "to_v1", is_flag=True, help="Print it as v1. Fields that v1 does not have are listed on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of YAML.")
@release_options(BY_DEFAULT)
@click.pass_context
def config(ctx: click.Context, path: Path, to_v1: bool, as_json: bool, chosen: ChosenRelease) -> None:  # noqa: FBT001  (click calls it)
    """Check a scheduler configuration, YAML or JSON: exits with 0 if the kube-scheduler of the release would accept it, otherwise with 2.

    With --convert, configurations of v1alpha1 to v1beta3 and Policies are converted to v1 first.
    """
    from schedviz.ingest.configuration.config_text import parse_config
    from schedviz.ingest.configuration.scheduler_config import convert
    from schedviz.ingest.errors import IngestError

    text = _read(path)
    try:
        if to_v1:
            converted = convert(text)
            problem = _problem(converted.config, (), chosen)
            if unwritable := _unwritable(converted.config):
                raise click.ClickException(f"{path}: {unwritable}")
            _print(converted.config, as_json=as_json)
            for dropped in converted.dropped:
                say(f"dropped {dropped}", err=True)
        else:
            parsed = parse_config(text)
            if parsed.relaxed:
                raise click.ClickException(f"{path}: contains comments or commas that JSON does not allow; try --convert.")
            problem = _problem(parsed.document, parsed.duplicates, chosen)
    except IngestError as error:
        raise click.ClickException(f"{path}: {error}") from None
    if problem:
        say(f"{path}: {problem}", err=True)
        ctx.exit(EXIT_REFUSED)
    if not to_v1:
        say(f"{path}: valid")


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise click.ClickException(f"{path}: larger than {MAX_BYTES >> 20} MB, which no scheduler configuration is.")
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise click.ClickException(f"{path}: is not UTF-8 text.") from None
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from None


def _problem(document: dict[str, Any], duplicates: tuple[str, ...], chosen: ChosenRelease) -> str:
    """What is wrong with the configuration; "" if it is valid."""
    from schedviz.engine import ConfigurationError, Simulation, SimulationSettings
    from schedviz.engine.config import load_configuration

    try:
        settings = chosen.settings(SimulationSettings(config=document))
        load_configuration(document, duplicates=duplicates, release=settings.release)
        Simulation(settings)
    except ConfigurationError as error:
        return str(error)
    return ""


def _unwritable(document: dict[str, Any]) -> str:
    """Why the document cannot be written as YAML; "" if it can."""
    try:
        msgspec.msgpack.encode(document)
    except OverflowError:
        return "it has an integer of more than 64 bits, which kube-scheduler cannot read."
    except UnicodeEncodeError:
        return "it has a lone surrogate, which is not a valid character."
    return ""


def _print(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        say_as_json(document)
        return
    import ryaml

    say_exact(ryaml.dumps(document))
