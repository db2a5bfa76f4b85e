"""What every body is."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from schedviz.kube.lines import ONE_LINE, ONE_LINE_OF_JSON_SCHEMA

#: Characters of what somebody calls something.
LONGEST_TITLE: Final = 200
_PATTERN: Final = {"pattern": ONE_LINE_OF_JSON_SCHEMA}
#: What somebody calls something: a session, a fork, a room, an invite. One line.
Title = Annotated[str, Meta(max_length=LONGEST_TITLE, pattern=ONE_LINE, extra_json_schema=_PATTERN)]
#: A text of one line for programs, such as a key.
Key = Annotated[str, Meta(max_length=200, pattern=ONE_LINE, extra_json_schema=_PATTERN)]


class Body(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a request or of an answer."""
