"""The panels of a session's page, each of which has an address of its own."""

from __future__ import annotations

from typing import Final

#: As in addresses; the front end draws them.
PANELS: Final = ("api", "queue", "cycle", "cache", "loop")
