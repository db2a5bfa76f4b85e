"""What can go wrong: a refusal of the server, told in its words, or no answer at all."""

# The names say what happened and read as sentences where they are caught.
# ruff: noqa: N818

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SchedvizError(Exception):
    """Something that was asked of a schedviz server has not happened; the message says why and what to do."""


class Unavailable(SchedvizError):
    """The server does not answer, or cannot now."""


class AnswerTooLarge(SchedvizError):
    """The server sent more than a client reads (`schedviz.client.limits`)."""


class Refused(SchedvizError):
    """The server refused: `status` and `code` are for programs, `problem` is all that it told (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        hint = str(problem.get("hint") or "")
        sentence = str(problem.get("detail") or f"HTTP {status}")
        super().__init__(f"{sentence} {hint}".strip())
        self.status = status
        self.problem = problem

    @property
    def code(self) -> str:
        """Which kind of problem it is, such as `invalid` or `quota_reached`."""
        return str(self.problem.get("code") or "")

    @property
    def path(self) -> str:
        """Where in the request it is wrong; "" where that is not known."""
        return str(self.problem.get("path") or "")


class NotFound(Refused):
    """It does not exist, or you may not see it."""


class NotAllowed(Refused):
    """A token is needed, or another one."""


class TooMany(Refused):
    """Too many requests or commands, also after waiting."""


class ImportFailed(SchedvizError):
    """A session could not be made of what it was given; the message says where."""


class CommandFailed(SchedvizError):
    """A command was accepted and could not be done."""


def refusal(status: int, problem: Mapping[str, Any]) -> Refused:
    """The error for a refused request."""
    kinds: dict[int, type[Refused]] = {401: NotAllowed, 403: NotAllowed, 404: NotFound, 429: TooMany}
    return kinds.get(status, Refused)(status, problem)
