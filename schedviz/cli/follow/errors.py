"""What can go wrong between us and a cluster. Each is a sentence; those that pass by themselves are told apart from those that do not."""

# The names say what happened and read as sentences where they are caught.
# ruff: noqa: N818

from __future__ import annotations

import click


class FollowError(click.ClickException):
    """Following cannot begin, or go on."""

    exit_code = 2


class Forbidden(FollowError):
    """The cluster does not let this user do something; `verb` and `resource` say what."""

    def __init__(self, verb: str, resource: str, said: str) -> None:
        super().__init__(f"no permission to {verb} {resource}: {said}")
        self.verb = verb
        self.resource = resource
        self.said = said


class NotServed(FollowError):
    """The cluster has no such resource."""


class Expired(Exception):
    """The API server does not know a resource version any more (410): everything has to be listed again."""


class Unavailable(Exception):
    """The API server does not answer, or cannot at the moment: try again."""
