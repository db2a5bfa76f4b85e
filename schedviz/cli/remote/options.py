"""Options that these commands share: the server, the session, the output format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from schedviz.cli.rest_client import server_option, token_option
from schedviz.terminal import printable

if TYPE_CHECKING:
    from schedviz.client import Client, Session

_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def client_of(server: str | None, token: str | None) -> Client:
    """The selected server."""
    from schedviz.client import Client

    return Client(server, token)


def find_session(client: Client, which: str) -> Session:
    """A session by its ID, the beginning of its ID, its name, or `@newest`. Raises `click.ClickException`."""
    from schedviz.client import NotFound

    if _ID.fullmatch(which):
        try:
            return client.session(which.lower())
        except NotFound:
            raise click.ClickException(f"No session {which}, or you do not have access to it. `schedviz sessions` lists them.") from None
    listed = client.sessions(most=1) if which == "@newest" else client.sessions()
    matches = [row for row in listed if which == "@newest" or row["name"] == which or row["id"].startswith(which.lower())]
    if len(matches) == 1:
        return client.session(matches[0]["id"])
    if not matches:
        raise click.ClickException(f"There is no session {which!r}. `schedviz sessions` lists them.")
    few = ", ".join(row["id"] for row in matches[:3])
    raise click.ClickException(f"{len(matches)} sessions match {which!r} ({few}, …); pass the whole ID.")


def _known_sessions(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completions for a shell: IDs with names. Empty if the server is unreachable."""
    from schedviz.client import Client, SchedvizError

    try:
        with Client(ctx.params.get("server"), ctx.params.get("token")) as client:
            rows = client.sessions(most=200)
    except SchedvizError:
        return []
    return [CompletionItem(printable(row["id"]), help=printable(row["name"])) for row in rows if row["id"].startswith(incomplete)]


session_option = click.option(
    "--session",
    "which",
    envvar="SCHEDVIZ_SESSION",
    required=True,
    metavar="SESSION",
    help="The ID or its beginning, the name, or @newest; or set SCHEDVIZ_SESSION.",
    shell_complete=_known_sessions,
)


__all__ = ["client_of", "find_session", "server_option", "session_option", "token_option"]
