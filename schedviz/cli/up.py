"""`schedviz up`: run everything on this machine and open the page."""

from __future__ import annotations

from pathlib import Path

import click

from schedviz.cli.error_messages import MultilineError
from schedviz.up.options import DEFAULT_PORT, UpOptions


class DoesNotStart(MultilineError):
    """Something on this machine prevents the start."""

    exit_code = 1


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="Port of the page; 0: any free port.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder.")
@click.option("--listen", "host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: all addresses.")
@click.option("--tls-cert", type=click.Path(dir_okay=False, path_type=Path), help="Certificate (PEM, with its chain) for HTTPS.")
@click.option("--tls-key", type=click.Path(dir_okay=False, path_type=Path), help="The certificate's key (PEM, without a password).")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def up(*, port: int, data: Path | None, host: str, tls_cert: Path | None, tls_key: Path | None, no_open: bool) -> None:
    """Run the web server, the workers and Redis on this machine. Ctrl-C stops them.

    With --listen, other machines can connect at the printed address (or SCHEDVIZ_URL), with a login or a room code.

    The data folder is $SCHEDVIZ_DATA if set, `data` in a source checkout, or ~/.local/share/schedviz.
    """
    from schedviz.up.errors import CannotStart
    from schedviz.up.run import run

    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key must be given together.")
    options = UpOptions(
        data=data or _usual_data_folder(), port=port, host=host, open_browser=not no_open, tls_certificate=tls_cert, tls_key=tls_key
    )
    try:
        run(options)
    except CannotStart as error:
        raise DoesNotStart(*error.lines) from error


def _usual_data_folder() -> Path:
    """Where all other commands of schedviz look, too."""
    import schedviz
    from schedviz.web.environment import data_folder

    return data_folder(Path(schedviz.__file__).parent.parent)
