"""What the person who starts schedviz chose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_PORT = 8777


@dataclass(frozen=True)
class UpOptions:
    """The choices on the command line of `schedviz up`."""

    data: Path
    #: 0: any free one.
    port: int = DEFAULT_PORT
    #: The address to listen on; by default nobody else's machine can connect.
    host: str = "127.0.0.1"
    open_browser: bool = True
    #: PEM files; both or none.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    #: Where the first link leads.
    page: str = ""
