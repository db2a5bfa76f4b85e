"""Messages about pods: that of a FitError, from a log, an event or a simulator's annotations."""

from __future__ import annotations

import re
from typing import Final

import msgspec

#: How a message begins.
MESSAGE: Final = re.compile(r"(?<!\d)\d{1,7}/\d{1,7} nodes are available")


class PodMessage(msgspec.Struct, frozen=True):
    """A message about one pod (`namespace/name`)."""

    pod: str
    #: `0/3 nodes are available: …`
    message: str
    #: Since 1970; None where it is not known.
    seconds: float | None = None
    #: As its source writes the time.
    at: str = ""
    #: The file.
    source: str = ""
    #: How often it was sent, and over which time, as kubectl prints it: `24m`; "" for once.
    times: int = 1
    span: str = ""
