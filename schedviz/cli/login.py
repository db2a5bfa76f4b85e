"""`schedviz login`: another login link for the server that `schedviz up` runs on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import click

from schedviz.terminal import say


@click.command()
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder, as for `schedviz up`.")
def login(data: Path | None) -> None:
    """Print a new one-time login link, for another browser or when the first link is lost."""
    if data is not None:
        os.environ["SCHEDVIZ_DATA"] = str(data)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import django
    from django.conf import settings

    from schedviz.up.lock import url_of_holder

    django.setup()
    url = url_of_holder(settings.DATA)
    if url is None:
        raise click.ClickException(f"No schedviz is running on the data folder {settings.DATA}. Start it with `schedviz up`.")
    from schedviz.web.login import make_login_url

    say(make_login_url(url))
