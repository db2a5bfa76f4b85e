"""`Meaning`: a reason of the scheduler in other words."""

from __future__ import annotations

from typing import NamedTuple

from schedviz.trace.phrase import Phrase


class Meaning(NamedTuple):
    """A reason in other words, its usual causes, and what to do about it. `plugin` gives the reason; "": the scheduler itself."""

    plugin: str
    template: str
    causes: tuple[str, ...] = ()
    #: A sentence without values.
    advice: str = ""
    #: Whether it counts no nodes and says nothing about why the pod does not fit.
    is_note: bool = False
    values: dict[str, str] = {}  # noqa: RUF012 -- a tuple's default, which nobody writes to.

    @property
    def phrase(self) -> Phrase:
        """The meaning, for this reason."""
        return Phrase(self.template, dict(self.values))

    @property
    def sentence(self) -> str:
        """The same in English."""
        return self.phrase.text


#: A pattern of a reason, and its meaning; the pattern's named groups are the values of the template.
Row = tuple[str, Meaning]
