"""`Meaning`: a reason of the scheduler in other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from schedviz.trace.phrase import Phrase, counted, phrase

#: Nodes that a command names.
_MAX_NAMED: Final = 3
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")


class Named(NamedTuple):
    """What advice names: nodes, the pod (`namespace/name`) with its claims, and the node that would help; empty: unknown."""

    nodes: Sequence[str] = ()
    pod: str = ""
    claims: Sequence[str] = ()
    #: Where or what a node must be that is added for the pod, with a space before it; "": nothing is known.
    where: str | Phrase = ""
    #: The volumes of its claims, by their names.
    volumes: Sequence[str] = ()

    @property
    def are_few_nodes(self) -> bool:
        """Whether the nodes are known, and few enough for a command."""
        return 0 < len(self.nodes) <= _MAX_NAMED and all(map(_NAME.fullmatch, self.nodes))

    @property
    def values(self) -> dict[str, str | Phrase]:
        """The arguments of kubectl, and `where`, with a space before them if they may be missing."""
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
            "where": self.where,
            "volumes": "".join(f" {volume}" for volume in self.volumes[:_MAX_NAMED] if _NAME.fullmatch(volume)),
        }


_NOTHING: Final = Named()
#: `rejected`, `evicted`: the kubelet rejected or evicted the pod. `interruptible`: the cloud may take the node at any time.
Kind = Literal["", "rejected", "evicted", "interruptible"]


class Meaning(NamedTuple):
    """A reason in other words, its usual causes, and what to do about it. `plugin` gives the reason; "": the scheduler itself."""

    plugin: str
    template: str
    causes: tuple[str, ...] = ()
    #: A sentence; its values are those of `template`, and the `claims` and `namespace` of `Named` after a command.
    advice: str = ""
    #: The same for nodes that are known and few, with `{node}` for their names; "": `advice` applies.
    of_named: str = ""
    #: Whether `of_named` is about one node only: of several, most may be others than the advice means, such as nodes without devices.
    is_of_one_named: bool = False
    #: The same for one node that is not known; "": `advice` applies.
    of_one: str = ""
    #: Whether it counts no nodes and says nothing about why the pod does not fit.
    is_note: bool = False
    values: dict[str, str | Phrase] = {}  # noqa: RUF012 -- a tuple's default, which nobody writes to.
    #: What it says about one node and about several, with `{nodes}` for their number or their names; empty: it is not about nodes.
    of_nodes: tuple[str, str] = ("", "")
    #: What no node does, to follow "none of the nodes", such as "{nodes} has enough free memory"; "": `of_nodes` applies.
    of_none: str = ""
    #: What other code decides by, so that the sentences can be reworded.
    kind: Kind = ""

    @property
    def phrase(self) -> Phrase:
        """The meaning, for this reason."""
        return Phrase(self.template, dict(self.values))

    @property
    def sentence(self) -> str:
        """The same in English."""
        return self.phrase.text

    def advice_template(self, named: Named = _NOTHING, count: int = 0) -> str:
        """What to do about `count` nodes (0: it is unknown how many), of which `named` has the names."""
        if self.of_named and named.are_few_nodes and (len(named.nodes) == 1 or not self.is_of_one_named):
            return self.of_named
        return self.of_one if self.of_one and count == 1 else self.advice

    def advice_phrase(self, named: Named = _NOTHING, count: int = 0) -> Phrase | None:
        """The same with its values; None: it has none."""
        advice = self.advice_template(named, count)
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

    def headline_of_all(self, count: int, *, workers: bool = False) -> Phrase:
        """The headline of a reason that all `count` nodes have, or all that are not of the control plane (`workers`)."""
        one, several = self.of_nodes
        if not several:
            return self.phrase
        if count == 1 and (not self.of_none or "{nodes}" in self.of_none):
            return Phrase(one, {**self._printed, "nodes": phrase("the only worker node") if workers else phrase("the only node")})
        return Phrase(self.of_none or several, {**self._printed, "nodes": _every(count, is_none=bool(self.of_none), workers=workers)})

    def headline_of(self, nodes: Phrase, *, is_none: bool = False) -> Phrase:
        """The headline about nodes that are named by one word: "all", or "none" (`is_none`, if `of_none` is not "")."""
        return Phrase(self.of_none if is_none else self.of_nodes[1], {**self._printed, "nodes": nodes})

    @property
    def _printed(self) -> dict[str, str | Phrase]:
        """The values, with a taint as kubectl prints it: a message has `key: value`. Its key is for a command that removes it."""
        if (taint := self.values.get("taint")) is None:
            return self.values
        key, _, value = str(taint).partition(": ")
        return {**self.values, "taint": "=".join(filter(None, (key.removesuffix(":"), value))), "taint_key": key.removesuffix(":")}


def _every(count: int, *, is_none: bool, workers: bool) -> Phrase:
    """All nodes, or none of them, as the subject of a sentence."""
    if workers:
        if count == 2:
            return phrase("neither worker node") if is_none else phrase("both worker nodes")
        return phrase("none of the {count} worker nodes", count=count) if is_none else phrase("all {count} worker nodes", count=count)
    if count == 2:
        return phrase("neither node") if is_none else phrase("both nodes")
    return phrase("none of the {count} nodes", count=count) if is_none else phrase("all {count} nodes", count=count)


#: A pattern of a reason, and its meaning; the pattern's named groups are the values of the template.
Row = tuple[str, Meaning]
