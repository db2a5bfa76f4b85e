"""`schedviz token`: create, list and revoke tokens for the REST API."""

from __future__ import annotations

from pathlib import Path

import click

from schedviz.cli.django_setup import data_option, existing_data_option, set_up_django
from schedviz.terminal import say, say_row


def _migrate(data: Path | None) -> None:
    """Set up Django and bring the database up to date: tokens may be created before the first start of a server."""
    set_up_django(data)
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)


@click.group(name="token")
def token() -> None:
    """Create, list and revoke tokens for the REST API."""


@token.command(name="create")
@click.option("--name", required=True, help="The purpose of the token. A token of the same name is replaced.")
@click.option("--scope", type=click.Choice(["read", "write"]), default="write", show_default=True, help="read, or write: also change.")
@click.option("--days", type=click.IntRange(min=1, max=36_500), default=None, help="The lifetime; by default it does not expire.")
@click.option("--user", default=None, help="The owner; default: the local user.")
@data_option
def create(name: str, scope: str, days: int | None, user: str | None, data: Path | None) -> None:
    """Create a token and print it. It is shown only once, because only its hash is stored."""
    _migrate(data)
    from django.contrib.auth import get_user_model

    from schedviz.web.auth.login import local_user, make_token

    owner = local_user() if user is None else get_user_model().objects.filter(username=user).first()
    if owner is None:
        raise click.ClickException(f"There is no user {user!r}.")
    say(make_token(owner, name, scope=scope, days=days))


@token.command(name="list")
@existing_data_option
def list_tokens(data: Path | None) -> None:
    """List the tokens: user, name, scope, expiry. Their secrets are not stored."""
    _migrate(data)
    from schedviz.web.models import Token

    for row in Token.objects.select_related("owner").order_by("owner__username", "name"):
        expiry = f"until {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else "does not expire"
        say_row(row.owner.get_username(), row.name, row.scope, expiry)


@token.command(name="revoke")
@click.option("--name", required=True, help="The token's name.")
@click.option("--user", default=None, help="The owner; default: the local user.")
@existing_data_option
def revoke(name: str, user: str | None, data: Path | None) -> None:
    """Revoke a token. It stops working immediately."""
    _migrate(data)
    from schedviz.web.auth.login import LOCAL_USER
    from schedviz.web.models import Token

    if Token.objects.filter(name=name, owner__username=user or LOCAL_USER).delete()[0] == 0:
        raise click.ClickException(f"There is no token {name!r} of {user or LOCAL_USER!r}.")
    say(f"Revoked {name!r}.")
