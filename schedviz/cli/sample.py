"""`schedviz sample [NAME]`: the cases that ship with schedviz."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def sample(name: str | None) -> None:
    """List the cases that ship with schedviz, or print the trace file of one.

    Every command that takes a FILE takes it: `schedviz sample nominated-for-ever > case.json; schedviz doctor case.json`.
    """
    from schedviz.samples import sample as trace_of
    from schedviz.samples import samples

    if name is None:
        for each in samples():
            click.echo(f"{each.name}\n    {each.description}")
        return
    try:
        click.echo(trace_of(name), nl=False)
    except LookupError as error:
        raise click.ClickException(str(error)) from None
