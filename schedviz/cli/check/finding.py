"""A problem that a check found: the setting, the consequence, and the remedy."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Level(StrEnum):
    ERROR = "error"
    """Unsafe: unauthorized access, data loss, or the server does not start."""
    WARNING = "warning"
    """Possibly unsafe, or intended."""


class Finding(msgspec.Struct, frozen=True):
    """One problem."""

    level: Level
    #: The environment variable, or the component.
    setting: str
    what: str
    remedy: str = msgspec.field(name="do")


def error(setting: str, what: str, remedy: str) -> Finding:
    """A finding of level error."""
    return Finding(Level.ERROR, setting, what, remedy)


def warning(setting: str, what: str, remedy: str) -> Finding:
    """A finding of level warning."""
    return Finding(Level.WARNING, setting, what, remedy)
