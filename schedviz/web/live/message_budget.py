"""The event loop's time for the messages of one client, in all of its sockets together: decoding and explaining a message takes time with
its length.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final
from weakref import WeakKeyDictionary

from schedviz.sessions.token_bucket import Bucket

#: Characters of messages that one client may send in a second, and at once. Reading a million takes up to a tenth of a second.
CHARACTERS_PER_SECOND: Final = 1_000_000
CHARACTERS_AT_ONCE: Final = 4_000_000
#: A shorter message counts as this many characters.
_MIN_CHARACTERS: Final = 1000
#: The messages over the limits that one client may cause in a second, and at once, before it is disconnected.
_REFUSED_PER_SECOND: Final = 500
_REFUSED_AT_ONCE: Final = 10_000
#: Clients whose budgets are kept.
_MAX_CLIENTS: Final = 4096


class MessageBudget:
    """What one client may send. Its sockets share it."""

    def __init__(self) -> None:
        self._characters = Bucket(CHARACTERS_PER_SECOND, CHARACTERS_AT_ONCE)
        self._refusals = Bucket(_REFUSED_PER_SECOND, _REFUSED_AT_ONCE)

    def take(self, text: str | None) -> bool:
        """Count a message (None: a binary one); False if it must not be read."""
        return self._characters.take(max(_MIN_CHARACTERS, len(text or "")))

    def refuse(self) -> bool:
        """Count a message that was not read; False if the client must be disconnected."""
        return self._refusals.take()


_budgets: WeakKeyDictionary[asyncio.AbstractEventLoop, OrderedDict[str, MessageBudget]] = WeakKeyDictionary()


def budget_of(client: str) -> MessageBudget:
    """The budget of a client in this event loop."""
    budgets = _budgets.setdefault(asyncio.get_running_loop(), OrderedDict())
    budget = budgets.setdefault(client, MessageBudget())
    budgets.move_to_end(client)
    if len(budgets) > _MAX_CLIENTS:
        budgets.popitem(last=False)
    return budget
