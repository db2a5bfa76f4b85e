"""`schedviz sample [NAME]`: the cases that ship with schedviz."""

from __future__ import annotations

import click

from schedviz.terminal import say, say_exact


@click.command()
@click.argument("name", required=False)
def sample(name: str | None) -> None:
    """List the cases that ship with schedviz, or print the trace file of one.

    Every command that takes a FILE takes it: `schedviz sample nominated-for-ever > case.json; schedviz doctor case.json`.
    """
    from schedviz.samples import sample as trace_of
    from schedviz.samples import samples

    if name is None:
        for entry in samples():
            say(entry.name)
            say(f"    {entry.description}")
        return
    try:
        say_exact(trace_of(name).decode())
    except LookupError as error:
        raise click.ClickException(str(error)) from None
