"""`schedviz token`: create, list and revoke tokens for the REST API."""

from __future__ import annotations

import os
from pathlib import Path

import click

from schedviz.terminal import say, say_row


def _django(data: Path | None) -> None:
    if data is not None:
        os.environ["SCHEDVIZ_DATA"] = str(data)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


_data_option = click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path), default=None, help="The data folder, as for `schedviz up`."
)
#: For commands that need existing tokens: a misspelt folder is not created.
_existing_data_option = click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), default=None, help="The data folder, as for `schedviz up`."
)


@click.group(name="token")
def token() -> None:
    """Create, list and revoke tokens for the REST API."""


@token.command(name="create")
@click.option("--name", required=True, help="The purpose of the token. A token of the same name is replaced.")
@click.option("--scope", type=click.Choice(["read", "write"]), default="write", show_default=True, help="read, or write: also change.")
@click.option("--days", type=click.IntRange(min=1, max=36_500), default=None, help="The lifetime; by default it does not expire.")
@click.option("--user", default=None, help="The owner; default: the local user.")
@_data_option
def create(name: str, scope: str, days: int | None, user: str | None, data: Path | None) -> None:
    """Create a token and print it. It is shown only once, because only its hash is stored."""
    _django(data)
    from django.contrib.auth import get_user_model

    from schedviz.web.login import local_user, make_token

    owner = local_user() if user is None else get_user_model().objects.filter(username=user).first()
    if owner is None:
        raise click.ClickException(f"There is no user {user!r}.")
    say(make_token(owner, name, scope=scope, days=days))


@token.command(name="list")
@_existing_data_option
def list_tokens(data: Path | None) -> None:
    """List the tokens: user, name, scope, expiry. Their secrets are not stored."""
    _django(data)
    from schedviz.web.models import Token

    for row in Token.objects.select_related("owner").order_by("owner__username", "name"):
        expiry = f"until {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else "does not expire"
        say_row(row.owner.get_username(), row.name, row.scope, expiry)


@token.command(name="revoke")
@click.option("--name", required=True, help="The token's name.")
@click.option("--user", default=None, help="The owner; default: the local user.")
@_existing_data_option
def revoke(name: str, user: str | None, data: Path | None) -> None:
    """Revoke a token. It stops working immediately."""
    _django(data)
    from schedviz.web.login import LOCAL_USER
    from schedviz.web.models import Token

    if Token.objects.filter(name=name, owner__username=user or LOCAL_USER).delete()[0] == 0:
        raise click.ClickException(f"There is no token {name!r} of {user or LOCAL_USER!r}.")
    say(f"Revoked {name!r}.")
