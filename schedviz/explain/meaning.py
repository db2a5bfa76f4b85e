"""`Meaning`: a reason of the scheduler in other words."""

from __future__ import annotations

from typing import NamedTuple

from schedviz.trace.phrase import Phrase, counted, phrase


class Meaning(NamedTuple):
    """A reason in other words, its usual causes, and what to do about it. `plugin` gives the reason; "": the scheduler itself."""

    plugin: str
    template: str
    causes: tuple[str, ...] = ()
    #: A sentence; its values are those of `template`.
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

    @property
    def advice_phrase(self) -> Phrase | None:
        """What to do, with its values; None: it has none."""
        return Phrase(self.advice, dict(self.values)) if "{" in self.advice else None

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


#: A pattern of a reason, and its meaning; the pattern's named groups are the values of the template.
Row = tuple[str, Meaning]
