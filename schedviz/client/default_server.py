"""Class methods of `Session` that use the default server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self


class DefaultServer:
    """Base class of `Session`."""

    #: `Client`, which creates sessions of the class.
    _client_type: ClassVar[Callable[[], Any]]

    @classmethod
    def from_files(cls, *paths: str | Path, **options: Any) -> Self:
        """As `Client().from_files`."""
        session: Self = cls._client_type().from_files(*paths, **options)
        return session

    @classmethod
    def from_kubectl(cls, **options: Any) -> Self:
        """As `Client().from_kubectl`."""
        session: Self = cls._client_type().from_kubectl(**options)
        return session

    @classmethod
    def generate(cls, **options: Any) -> Self:
        """As `Client().generate`."""
        session: Self = cls._client_type().generate(**options)
        return session

    @classmethod
    def open(cls, session: str) -> Self:
        """As `Client().session`."""
        opened: Self = cls._client_type().session(session)
        return opened


class AsyncDefaultServer:
    """Base class of `AsyncSession`. It has no such methods, because the caller needs an `AsyncClient` to close."""
