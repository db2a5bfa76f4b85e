"""Class methods of `Session` that use the server which `Client()` finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedviz.client.sync import Session


class DefaultServer:
    """Base class of `Session`."""

    @classmethod
    def from_files(cls, *paths: str | Path, **options: Any) -> Session:
        """As `Client().from_files`."""
        from schedviz.client.sync import Client

        return Client().from_files(*paths, **options)

    @classmethod
    def from_kubectl(cls, **options: Any) -> Session:
        """As `Client().from_kubectl`."""
        from schedviz.client.sync import Client

        return Client().from_kubectl(**options)

    @classmethod
    def generate(cls, **options: Any) -> Session:
        """As `Client().generate`."""
        from schedviz.client.sync import Client

        return Client().generate(**options)

    @classmethod
    def open(cls, session: str) -> Session:
        """As `Client().session`."""
        from schedviz.client.sync import Client

        return Client().session(session)


class AsyncDefaultServer:
    """Base class of `AsyncSession`. It has no such methods: the caller must have an `AsyncClient`, to close it."""
