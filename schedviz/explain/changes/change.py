"""`Change`: one thing that could be otherwise, and how to try it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from schedviz.explain.explanation import Part
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase

Kind = Literal[
    "request",  # the pod asks for less
    "toleration",  # the pod tolerates a taint
    "selector",  # the pod asks for fewer labels of its node
    "constraint",  # a spread constraint or an affinity term is dropped, or becomes a wish
    "port",  # a host port is given up
    "uncordon",  # a node is schedulable again
    "label",  # a node gets a label
    "taint",  # a node loses a taint
    "victim",  # pods leave a node
    "node",  # one more node of a shape that there is
    "plugin",  # a plugin is asked with other arguments
    "again",  # the pod is deleted and made again as it was
]

#: A KubeSchedulerConfiguration as it is written.
Config = dict[str, Any]

#: What a change costs those who make it, from what the pod's author can do alone to what costs money or other people's pods. Two
#: changes cost the sum, and always more than one.
COSTS: dict[Kind, float] = {
    "uncordon": 1,
    "again": 1,
    "toleration": 2,
    "request": 2,
    "port": 3,
    "selector": 3,
    "constraint": 3,
    "label": 3,
    "taint": 4,
    "plugin": 5,
    "victim": 6,
    "node": 8,
}

#: The kinds in words, for what was tried.
WORDS: dict[str, str] = {
    "request": "a smaller request",
    "toleration": "a toleration",
    "selector": "a label asked for no more",
    "constraint": "a constraint relaxed",
    "port": "a host port given up",
    "uncordon": "a node uncordoned",
    "label": "a label for a node",
    "taint": "a taint taken off",
    "victim": "pods that leave",
    "node": "one more node",
    "plugin": "the scheduler's configuration",
    "again": "the pod made again",
}


class ChangeView(Part, frozen=True):
    """A change as it is told."""

    kind: Kind
    #: In an imperative sentence without a full stop.
    what: str
    #: The same as it can be said in another language.
    phrase: Phrase
    #: A command that does it, where there is a short one; "" where the pod's template has to be edited.
    kubectl: str = ""


class Change(msgspec.Struct, frozen=True):
    """A change that can be tried: it makes another pod, or other objects beside it."""

    kind: Kind
    phrase: Phrase
    kubectl: str = ""
    #: Which plugins' objections it is meant against. Two changes that are tried together are against different ones.
    against: frozenset[str] = frozenset()
    #: How much of the thing changes, from 0 to 1: of two changes of a kind, the smaller is told first.
    amount: float = 0.0
    pod: Callable[[Pod], Pod] | None = None
    #: The scheduler's configuration as it is to be, made of the one in use.
    config: Callable[[Config], Config] | None = None
    updated: tuple[KubeObject, ...] = ()
    deleted: tuple[KubeObject, ...] = ()

    @property
    def cost(self) -> float:
        """What it costs; smaller changes of a kind cost less, by less than the difference of kinds."""
        return COSTS[self.kind] + self.amount

    @property
    def told(self) -> ChangeView:
        """The change as it is told."""
        return ChangeView(self.kind, self.what, self.phrase, self.kubectl)

    @property
    def what(self) -> str:
        """In English."""
        return self.phrase.text

    def of_config(self, config: Config) -> Config:
        """The configuration with the change."""
        return self.config(config) if self.config is not None else config

    def of_pod(self, pod: Pod) -> Pod:
        """The pod with the change."""
        return self.pod(pod) if self.pod is not None else pod

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that it makes or changes."""
        return tuple(obj for obj in self.updated if isinstance(obj, Node))


def shell(*words: str) -> str:
    """A command that can be pasted, whatever a name has in it."""
    return shlex.join(words)
