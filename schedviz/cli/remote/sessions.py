"""`schedviz sessions`, `generate`, `fork`, `delete`, `export`: manage sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from schedviz.cli.release_options import BY_DEFAULT, BY_SESSION, ChosenRelease, release_options
from schedviz.cli.remote.options import client_of, find_session, server_option, session_option, token_option
from schedviz.cli.remote.printing import Form, output_option, print_rows
from schedviz.kube.example_driver import MODELS
from schedviz.terminal import say

_CAMEL = {"gpu_model": "gpuModel"}
_COLUMNS = ("id", "name", "status", "cycle", "event", "owner", "createdAt")


@click.command()
@click.option("--name", default="", help="Only sessions whose name contains this.")
@click.option("--status", type=click.Choice(["importing", "ready", "running", "paused", "failed"]), help="Only sessions with this status.")
@output_option
@server_option
@token_option
def sessions(*, name: str, status: str | None, form: Form, server: str | None, token: str | None) -> None:
    """List the sessions of a server, newest first."""
    with client_of(server, token) as client:
        print_rows(client.sessions(name=name, status=status or ""), form, _COLUMNS)


@click.command()
@click.option("--nodes", type=click.IntRange(min=1), help="The number of nodes; default: that of the shape.")
@click.option("--pods", type=click.IntRange(min=0), help="The number of pods; default: that of the shape.")
@click.option("--zones", type=click.IntRange(min=1), help="The number of zones; default: that of the shape.")
@click.option("--shape", default="mixed", show_default=True, help="The kind of cluster; an invalid name lists them.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The same seed gives the same cluster.")
@click.option("--gpus", type=click.IntRange(min=0), help="The GPUs of each node, as devices for claims; default: that of the shape.")
@click.option("--gpu-model", type=click.Choice(MODELS), default="a100", show_default=True, help="The model of the GPUs.")
@click.option("--partitions", is_flag=True, help="Offer the GPUs in partitions, too.")
@click.option("--config", metavar="FILE", type=click.Path(path_type=Path), help="A KubeSchedulerConfiguration.")
@click.option("--name", default="", help="The name of the session.")
@release_options(BY_DEFAULT)
@server_option
@token_option
def generate(*, config: Path | None, name: str, server: str | None, token: str | None, chosen: ChosenRelease, **cluster: Any) -> None:
    """Create a session with a generated cluster, and print its ID."""
    from schedviz.cli.remote.commands import objects_of

    scheduler = None if config is None else next(iter(objects_of(config)), {})
    with client_of(server, token) as client:
        parameters = {_CAMEL.get(member, member): value for member, value in cluster.items() if value is not None}
        say(client.generate(name=name, config=scheduler, release=chosen.release or "", feature_gates=chosen.feature_gates, **parameters).id)


@click.command()
@session_option
@click.option("--at", type=click.IntRange(min=0), help="After this event; default: the current state.")
@click.option("--name", default="", help="The name of the fork.")
@release_options(BY_SESSION)
@server_option
@token_option
def fork(*, which: str, at: int | None, name: str, server: str | None, token: str | None, chosen: ChosenRelease) -> None:
    """Fork a session at a moment, and print the ID of the fork. With --release, the scheduler of another release starts with the objects of
    that moment.
    """
    with client_of(server, token) as client:
        say(find_session(client, which).fork(at=at, name=name, release=chosen.release or "", feature_gates=chosen.feature_gates).id)


@click.command()
@session_option
@server_option
@token_option
def delete(*, which: str, server: str | None, token: str | None) -> None:
    """Delete a session with its history."""
    with client_of(server, token) as client:
        session = find_session(client, which)
        session.delete()
        say(f"schedviz: deleted {session.name!r}.", err=True)


@click.command()
@session_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@server_option
@token_option
def export(*, which: str, file: Path, server: str | None, token: str | None) -> None:
    """Write a session to FILE as a `.schedviz` file, which `schedviz import` and every server accept."""
    with client_of(server, token) as client:
        file.write_bytes(find_session(client, which).export())
