"""Errors of following a cluster. Transient ones have classes of their own."""

from __future__ import annotations

import click


class FollowError(click.ClickException):
    """Following cannot begin or continue."""

    exit_code = 2


class Forbidden(FollowError):
    """The cluster denies this user an operation; `verb` and `resource` name it."""

    def __init__(self, verb: str, resource: str, message: str) -> None:
        super().__init__(f"no permission to {verb} {resource}: {message}")
        self.verb = verb
        self.resource = resource
        #: What the cluster says about it.
        self.reason = message


class NotServed(FollowError):
    """The cluster does not have this resource."""


class Expired(Exception):
    """The resource version has expired (410), so everything must be listed again."""


class Unavailable(Exception):
    """The API server is temporarily unavailable."""
