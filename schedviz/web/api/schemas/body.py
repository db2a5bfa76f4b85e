"""The base class and the common types of bodies."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from schedviz.kube.lines import ONE_LINE, ONE_LINE_OF_JSON_SCHEMA

#: The maximum number of characters of a name that a user chooses.
MAX_TITLE_LENGTH: Final = 200
_PATTERN: Final = {"pattern": ONE_LINE_OF_JSON_SCHEMA}
#: A name that a user chooses, in one line: of a session, a fork, a room or an invite.
Title = Annotated[str, Meta(max_length=MAX_TITLE_LENGTH, pattern=ONE_LINE, extra_json_schema=_PATTERN)]
#: A machine-readable text in one line, such as a key.
Key = Annotated[str, Meta(max_length=200, pattern=ONE_LINE, extra_json_schema=_PATTERN)]


class Body(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a request or a response."""
