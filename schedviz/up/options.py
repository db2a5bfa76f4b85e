"""The options of `schedviz up`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_PORT = 8777


@dataclass(frozen=True)
class UpOptions:
    """The options given on the command line."""

    data: Path
    #: 0: any free port.
    port: int = DEFAULT_PORT
    #: The address to listen on; by default only this machine can connect.
    host: str = "127.0.0.1"
    open_browser: bool = True
    #: PEM files; both or none.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    #: The page that the first link opens.
    page: str = ""
