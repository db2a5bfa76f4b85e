"""A click group that imports a subcommand only when it runs, so that `schedviz --help` is fast."""

from __future__ import annotations

import difflib
import importlib
from typing import NamedTuple

import click


class LazyCommand(NamedTuple):
    """The location of a subcommand and its line in the list of commands, which is known without importing it."""

    module: str
    attribute: str
    summary: str


class LazyGroup(click.Group):
    """A group whose members are listed in a table instead of being imported."""

    def __init__(self, *, lazy: dict[str, LazyCommand], help: str, epilog: str) -> None:  # noqa: A002 (click's own name)
        super().__init__(help=help, epilog=epilog)
        #: Name on the command line → location, in the order of the help text.
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        lazy_command = self.lazy.get(cmd_name)
        if lazy_command is None:
            return None
        command: click.Command = getattr(importlib.import_module(lazy_command.module), lazy_command.attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in self.lazy:
            near = difflib.get_close_matches(name, self.lazy, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(self.lazy)}."
            raise click.UsageError(f"No such command: {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy_command.summary) for name, lazy_command in self.lazy.items()])
