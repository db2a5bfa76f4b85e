"""`Meaning`: a reason of the scheduler in other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from schedviz.trace.phrase import Phrase, counted, phrase

#: Nodes that a command names.
_MAX_NAMED: Final = 3
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")


class Named(NamedTuple):
    """What commands name: nodes, and the pod (`namespace/name`) with its claims; empty: unknown."""

    nodes: Sequence[str] = ()
    pod: str = ""
    claims: Sequence[str] = ()

    @property
    def are_few_nodes(self) -> bool:
        """Whether the nodes are known, and few enough for a command."""
        return 0 < len(self.nodes) <= _MAX_NAMED and all(map(_NAME.fullmatch, self.nodes))

    @property
    def values(self) -> dict[str, str]:
        """The arguments of kubectl, with a space before them if they may be missing."""
        namespace = self.pod.partition("/")[0]
        # A text without namespaces may be of any.
        in_namespace = f" -n {namespace}" if namespace != "default" and _NAME.fullmatch(namespace) else ""
        claims = [claim.partition("/")[2] for claim in self.claims[:_MAX_NAMED]]
        named = "".join(f" {claim}" for claim in claims) if all(map(_NAME.fullmatch, claims)) else ""
        name = self.pod.partition("/")[2]
        return {
            "node": " ".join(self.nodes),
            "namespace": in_namespace,
            "claims": f"{named}{in_namespace}",
            "pod": f" {name}{in_namespace}" if _NAME.fullmatch(name) else "",
        }


_NOTHING: Final = Named()


class Meaning(NamedTuple):
    """A reason in other words, its usual causes, and what to do about it. `plugin` gives the reason; "": the scheduler itself."""

    plugin: str
    template: str
    causes: tuple[str, ...] = ()
    #: A sentence; its values are those of `template`, and the `claims` and `namespace` of `Named` after a command.
    advice: str = ""
    #: The same for nodes that are known and few, with `{node}` for their names; "": `advice` applies.
    of_named: str = ""
    #: Whether it counts no nodes and says nothing about why the pod does not fit.
    is_note: bool = False
    values: dict[str, str | Phrase] = {}  # noqa: RUF012 -- a tuple's default, which nobody writes to.
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

    def advice_phrase(self, named: Named = _NOTHING) -> Phrase | None:
        """What to do, with its values; None: it has none."""
        advice = self.of_named if self.of_named and named.are_few_nodes else self.advice
        return Phrase(advice, {**named.values, **self._printed}) if "{" in advice else None

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
    def _printed(self) -> dict[str, str | Phrase]:
        """The values, with a taint as kubectl prints it: a message has `key: value`."""
        taint = self.values.get("taint")
        return self.values if taint is None else {**self.values, "taint": "=".join(filter(None, str(taint).partition(": ")[::2]))}


#: A pattern of a reason, and its meaning; the pattern's named groups are the values of the template.
Row = tuple[str, Meaning]
