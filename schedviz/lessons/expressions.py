"""Expressions over what is so at a stop: JMESPath (jmespath.org) over a document of

state     what the scheduler holds: cache, snapshot, queue (as `GET sessions/{id}/state/` gives it)
before    the same, before the commands of this half of the stop
events    the trace events of those commands, oldest first (docs/wire.md)
cycle     the last scheduling cycle of theirs, as `GET sessions/{id}/cycles/{n}/` gives it; null where there was none
binding   the last binding cycle of theirs, or null
outcome   how the last command ended: result, error
clockSeconds, heldBindings, unconfirmed
clusterEvents, requeue, preEnqueue, heldPreemptions, batch   v1.36: as tests/conformance/FORMAT-1.36.md describes them
other     all of this for the release in `compareWith`, after the same commands
"""

from __future__ import annotations

from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

#: The document for the hints of a stop: the present state, and the events since arrival.
HINT_MEMBERS: Final = ("state", "events", "clockSeconds")
#: The text for a missing value.
NOTHING: Final = "–"


class ExpressionError(ValueError):
    """An expression that cannot be evaluated."""


def find(expression: str, document: dict[str, Any]) -> Any:
    """The result of the expression. Raises `ExpressionError`."""
    try:
        return jmespath.search(expression, document)
    except JMESPathError as error:
        raise ExpressionError(f"`{expression}`: {' '.join(str(error).split())}") from None


def holds(expression: str, document: dict[str, Any]) -> bool:
    """Whether the expression is true for the document; False if it cannot be evaluated."""
    try:
        return find(expression, document) is True
    except ExpressionError:
        return False


def as_text(value: Any) -> str:
    """A value as text: a list by its members, a boolean as yes or no."""
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(as_text, value)) or NOTHING
        case float() if value == int(value):
            return str(int(value))
        case _:
            return str(value)
