"""Expressions over what is so at a stop: JMESPath (jmespath.org) over a document of

state     what the scheduler holds: cache, snapshot, queue (as `GET sessions/{id}/state/` gives it)
before    the same, before the commands of this half of the stop
events    the trace events of those commands, oldest first (docs/wire.md)
cycle     the last scheduling cycle of theirs, as `GET sessions/{id}/cycles/{n}/` gives it; null where there was none
binding   the last binding cycle of theirs, or null
outcome   how the last command ended: result, error
clockSeconds, heldBindings, unconfirmed
"""

from __future__ import annotations

from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

#: What the hints of a stop are asked of: what is so now, and the events since one has arrived there.
HINT_SEES: Final = ("state", "events", "clockSeconds")
#: How a text shows what is not there.
NOTHING: Final = "–"


class ExpressionError(ValueError):
    """An expression that cannot be evaluated."""


def find(expression: str, document: dict[str, Any]) -> Any:
    """What the expression finds. Raises `ExpressionError`."""
    try:
        return jmespath.search(expression, document)
    except JMESPathError as error:
        raise ExpressionError(f"`{expression}`: {' '.join(str(error).split())}") from None


def holds(expression: str, document: dict[str, Any]) -> bool:
    """Whether the expression is true of the document. What cannot be evaluated there is not."""
    try:
        return find(expression, document) is True
    except ExpressionError:
        return False


def told(value: Any) -> str:
    """A value as a text shows it: a list by its members, a truth as yes or no."""
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(told, value)) or NOTHING
        case float() if value == int(value):
            return str(int(value))
        case _:
            return str(value)
