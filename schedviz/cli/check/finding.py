"""What a check found: which setting would hurt, how, and what to do."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Level(StrEnum):
    ERROR = "error"
    """It would hurt: somebody gets in, something is lost, or it does not run."""
    WARNING = "warning"
    """It may hurt, or is meant."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong."""

    level: Level
    #: The variable of the environment, or the part that it is about.
    setting: str
    what: str
    do: str


def error(setting: str, what: str, do: str) -> Finding:
    """It would hurt."""
    return Finding(Level.ERROR, setting, what, do)


def warning(setting: str, what: str, do: str) -> Finding:
    """It may hurt."""
    return Finding(Level.WARNING, setting, what, do)
