"""Exceptions of the client: the server refused a request or did not respond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SchedvizError(Exception):
    """A request to a schedviz server failed. The message says why and what to do."""


class Unavailable(SchedvizError):
    """The server does not respond or is temporarily unavailable."""


class ResponseTooLarge(SchedvizError):
    """The response is larger than `schedviz.client.limits` allows."""


#: The name of earlier versions.
AnswerTooLarge = ResponseTooLarge


class Refused(SchedvizError):
    """The server refused the request. `status` and `code` are for programs, `problem` is the whole error document (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        hint = str(problem.get("hint") or "")
        sentence = str(problem.get("detail") or f"HTTP {status}")
        super().__init__(f"{sentence} {hint}".strip())
        self.status = status
        self.problem = problem

    @property
    def code(self) -> str:
        """The kind of problem, such as `invalid` or `quota_reached`."""
        return str(self.problem.get("code") or "")

    @property
    def path(self) -> str:
        """The path of the error in the request; "" if unknown."""
        return str(self.problem.get("path") or "")


class NotFound(Refused):
    """The object does not exist, or you may not view it."""


class NotAllowed(Refused):
    """A token is missing, or lacks the permission."""


class TooMany(Refused):
    """Too many requests or commands, even after waiting."""


class ImportFailed(SchedvizError):
    """A session could not be created from its source. The message names the position."""


class CommandFailed(SchedvizError):
    """A command was accepted, but failed."""


def refusal(status: int, problem: Mapping[str, Any]) -> Refused:
    """The error for a refused request."""
    kinds: dict[int, type[Refused]] = {401: NotAllowed, 403: NotAllowed, 404: NotFound, 429: TooMany}
    return kinds.get(status, Refused)(status, problem)
