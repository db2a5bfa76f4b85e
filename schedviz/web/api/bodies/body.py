"""What every body is."""

from __future__ import annotations

import msgspec


class Body(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a request or of an answer."""
