"""Django for the commands that use the database of a data folder, and their option `--data`."""

from __future__ import annotations

import os
from pathlib import Path

import click

_HELP = "The data folder, as for `schedviz up`."

data_option = click.option("--data", type=click.Path(file_okay=False, path_type=Path), help=_HELP)
#: For commands that need existing data: a misspelt folder is not created.
existing_data_option = click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), help=_HELP)


def set_up_django(data: Path | None = None) -> None:
    """Load the settings of schedviz; None: with the data folder of the environment."""
    if data is not None:
        os.environ["SCHEDVIZ_DATA"] = str(data)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import django

    django.setup()
