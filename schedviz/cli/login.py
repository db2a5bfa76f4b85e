"""`schedviz login`: another login link for the server that `schedviz up` runs on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from schedviz.cli.django_setup import data_option, set_up_django
from schedviz.terminal import say


@click.command()
@data_option
def login(data: Path | None) -> None:
    """Print a new one-time login link, for another browser or when the first link is lost."""
    set_up_django(data)
    from django.conf import settings

    from schedviz.up.lock import url_of_holder

    url = url_of_holder(settings.DATA)
    if url is None:
        raise click.ClickException(f"No schedviz is running on the data folder {settings.DATA}. Start it with `schedviz up`.")
    from schedviz.web.auth.login import make_login_url

    say(make_login_url(url))
