"""`Meaning`: a reason of the scheduler in other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from schedviz.trace.phrase import Phrase, counted, phrase

#: Nodes that a command names.
_MAX_NAMED: Final = 3
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")


class Meaning(NamedTuple):
    """A reason in other words, its usual causes, and what to do about it. `plugin` gives the reason; "": the scheduler itself."""

    plugin: str
    template: str
    causes: tuple[str, ...] = ()
    #: A sentence; its values are those of `template`, and `{node}` for the names of nodes in a command.
    advice: str = ""
    #: Whether it counts no nodes and says nothing about why the pod does not fit.
    is_note: bool = False
    values: dict[str, str] = {}  # noqa: RUF012 -- a tuple's default, which nobody writes to.
    #: What it says about one node and about several, with `{nodes}` for their number or their names; empty: it is not about nodes.
    of_nodes: tuple[str, str] = ("", "")

    @property
    def phrase(self) -> Phrase:
        """The meaning, for this reason."""
        return Phrase(self.template, dict(self.values))

    @property
    def sentence(self) -> str:
        """The same in English."""
        return self.phrase.text

    def advice_phrase(self, nodes: Sequence[str] = ()) -> Phrase | None:
        """What to do, with its values; None: it has none. `nodes` are named in its command if they are known and few."""
        return Phrase(self.advice, {**self.values, "node": _as_arguments(nodes)}) if "{" in self.advice else None

    def headline(self, count: int, nodes: Phrase | None = None) -> Phrase:
        """In one plain sentence: which or how many nodes have it. `nodes` names them; None: their number. 0 nodes: not counted."""
        one, several = self.of_nodes
        if not several:
            return self.phrase
        if not count:
            return Phrase(several, {**self._printed, "nodes": nodes or phrase("nodes")})
        counted_ = counted(count, "{count} node", "{count} nodes") if nodes is None else nodes
        return Phrase(one if count == 1 else several, {**self._printed, "nodes": counted_})

    @property
    def _printed(self) -> dict[str, str]:
        """The values, with a taint as kubectl prints it: a message has `key: value`."""
        taint = self.values.get("taint")
        return self.values if taint is None else {**self.values, "taint": "=".join(filter(None, taint.partition(": ")[::2]))}


def _as_arguments(nodes: Sequence[str]) -> str:
    """The names as arguments of kubectl in a command between backticks; `NODE` for none, for many, and for what is no name."""
    is_named = 0 < len(nodes) <= _MAX_NAMED and all(_NAME.fullmatch(node) for node in nodes)
    return " ".join(nodes) if is_named else "NODE"


#: A pattern of a reason, and its meaning; the pattern's named groups are the values of the template.
Row = tuple[str, Meaning]
