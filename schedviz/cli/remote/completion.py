"""`schedviz completion`: shell completion for commands, options and sessions."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from schedviz.terminal import say_exact


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell: `eval "$(schedviz completion bash)"`."""
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    say_exact(completion_class(ctx.find_root().command, {}, "schedviz", "_SCHEDVIZ_COMPLETE").source() + "\n")
