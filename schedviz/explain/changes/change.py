"""`Change`: one possible change, and how to try it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from schedviz.explain.explanation import Part
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, phrase

ChangeKind = Literal[
    "request",  # smaller requests of the pod, or fewer devices
    "toleration",  # a toleration for the pod, or for a request of its claims
    "selector",  # fewer required node labels, or selectors of devices
    "constraint",  # a constraint dropped, or made a preference: spread, affinity, attributes of devices, topology of a group
    "class",  # another device class
    "claim",  # a claim of the pod's own
    "minimum",  # fewer pods that have to fit at the same time
    "port",  # a host port given up
    "uncordon",  # a node made schedulable again
    "repair",  # an unhealthy node that works again
    "label",  # a label for a node
    "taint",  # a taint removed from a node
    "victim",  # pods removed from a node
    "member",  # the pods that a group lacks
    "device",  # additional devices like existing ones
    "node",  # additional nodes of an existing shape
    "plugin",  # other arguments for a plugin
    "again",  # the pod deleted and created again unchanged
]

#: Pods named in a change.
_MAX_NAMED_PODS: Final = 3

#: A KubeSchedulerConfiguration as written.
Config = dict[str, Any]

#: The cost of a change, from what takes nothing from anybody to what costs money or other people's pods. Two changes cost their sum,
#: that is, more than each of them.
COSTS: dict[ChangeKind, float] = {
    "uncordon": 1,
    "again": 1,
    "repair": 1.5,
    "toleration": 2,
    "request": 2,
    "selector": 3,
    "constraint": 3,
    "class": 3,
    "claim": 3,
    "minimum": 3,
    "label": 3,
    "plugin": 5,
    "member": 6,
    "device": 7,
    "node": 8,
    "port": 8.5,
    "taint": 9,
    "victim": 10,
}
#: The additional cost of a change that hardly anybody would make, so that an additional node is suggested before it.
_UNLIKELY: Final = 7

#: What lowering the requests of a DaemonSet costs besides: its pods on all other nodes restart, and moving a pod comes before it.
_FOR_ALL_NODES: Final = 10

#: The kinds in words, for the list of dry runs.
WORDS: dict[str, str] = {
    "request": "a smaller request",
    "toleration": "a toleration",
    "selector": "a label or selector removed",
    "constraint": "a constraint relaxed",
    "class": "another device class",
    "claim": "its own claim",
    "minimum": "a smaller minCount",
    "port": "a host port removed",
    "uncordon": "a node uncordoned",
    "repair": "an unhealthy node repaired",
    "label": "a label for a node",
    "taint": "a taint removed",
    "victim": "other pods removed",
    "member": "more pods of the group",
    "device": "more devices",
    "node": "more nodes",
    "plugin": "another scheduler configuration",
    "again": "the pod recreated",
}


#: What else a change does, for kinds that need a warning. They are sentences without values, for translation.
CONSEQUENCES: dict[ChangeKind, str] = {
    "port": "clients can no longer reach the pod through this port of its node",
    "constraint": "the constraint may be intentional, for example to survive the loss of a node or a zone",
    "uncordon": "the node may be under maintenance, and other pods can then also be scheduled on it",
    "taint": "other pods can then also be scheduled there",
    "label": "other pods that select the label can then also be scheduled there",
    "toleration": "the toleration applies to every node with this taint",
    "victim": "their controllers recreate them, and the new pods need room on other nodes",
}

#: The same of a label for a node that has no such label, of a toleration of the control plane's taint, of a change of a DaemonSet's
#: template, of a smaller request, and of the removal of a single pod, with a controller and without.
IF_ACCURATE: Final = "the label has to be true of the node, because other pods that select it can then also be scheduled there"
INTENTIONAL: Final = "the constraint may be intentional"
#: Of a label or node affinity that the pod no longer requires.
REQUIRED_ON_PURPOSE: Final = "if the requirement is intentional, add a node that meets it instead"
ON_CONTROL_PLANE: Final = "the pod can then also be scheduled on control-plane nodes, whose resources the control plane needs"
OF_ALL_NODES: Final = "the change applies to the DaemonSet's pods on all nodes"
MOST_THAT_FITS: Final = "no node that the pod can use has room for more now"
CREATED_AGAIN: Final = "its controller recreates it, and the new pod needs room on another node"
NOT_CREATED_AGAIN: Final = "it has no controller that would recreate it"


class ChangeView(Part, frozen=True):
    """A change as reported."""

    kind: ChangeKind
    #: An imperative sentence without a full stop, with identifiers between backticks.
    what: str
    #: The same for translation.
    phrase: Phrase
    #: A short command that makes the change; "" if the pod's template has to be edited.
    kubectl: str = ""
    #: Lines of YAML to add to the spec of the pod's template; "" if there are none to copy.
    yaml: str = ""
    #: What else it does, without a full stop; a template for translation. "": it needs no warning.
    consequence: str = ""


def what_to_do(changes: Iterable[ChangeView]) -> str:
    """The changes in English; "" if there are none."""
    return " and ".join(change.what for change in changes)


class Change(msgspec.Struct, frozen=True):
    """A change that can be tried: it yields another pod, or other objects."""

    kind: ChangeKind
    phrase: Phrase
    kubectl: str = ""
    #: What it answers: plugins that reject the pod, the URL of an extender, or the plugin that it enables. Two changes are tried together
    #: only if they have none of these in common.
    against: frozenset[str] = frozenset()
    #: What it costs less than others of its kind.
    discount: float = 0.0
    #: The relative size of the change, from 0 to 1: of two changes of a kind, the smaller is reported first.
    amount: float = 0.0
    #: Changes with the same `ladder` differ only in a number: when one helps, the later ones are not tried. "": not part of a series.
    ladder: str = ""
    pod: Callable[[Pod], Pod] | None = None
    #: The resulting configuration of the scheduler, made from the current one.
    config: Callable[[Config], Config] | None = None
    updated: tuple[KubeObject, ...] = ()
    deleted: tuple[KubeObject, ...] = ()
    #: As in `ChangeView`.
    yaml: str = ""
    #: Whether hardly anybody would make it, such as a request that is a fraction of the present one.
    is_unlikely: bool = False
    #: Whether it changes the template of a DaemonSet, and so its pods on all nodes.
    is_of_daemon_set: bool = False
    #: As in `ChangeView`; "": that of its kind.
    consequence: str = ""

    @property
    def cost(self) -> float:
        """Its cost; smaller changes of a kind cost less, by less than the difference between kinds."""
        besides = (_UNLIKELY if self.is_unlikely else 0) + (_FOR_ALL_NODES if self.is_of_daemon_set else 0)
        return COSTS[self.kind] + self.amount + besides - self.discount

    @property
    def view(self) -> ChangeView:
        """The change as reported."""
        consequence = OF_ALL_NODES if self.is_of_daemon_set else self.consequence or CONSEQUENCES.get(self.kind, "")
        return ChangeView(self.kind, self.what, self.phrase, self.kubectl, self.yaml, consequence)

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
        """The nodes that it creates or changes."""
        return tuple(obj for obj in self.updated if isinstance(obj, Node))


def named(pods: Sequence[Pod]) -> str | Phrase:
    """The name of a pod, or the number of pods with the first names."""
    if len(pods) == 1:
        return pods[0].key
    listed = ", ".join(pod.key for pod in pods[:_MAX_NAMED_PODS])
    return phrase("{count} pods ({pods})", count=len(pods), pods=f"{listed}{', …' if len(pods) > _MAX_NAMED_PODS else ''}")


def shell(*arguments: str, names: Sequence[str], flags: Sequence[str] = ()) -> str:
    """A command that can be pasted safely, whatever a name contains: an imported pod called `--all` is not a flag."""
    if any(name.startswith("-") for name in names):
        return shlex.join([*arguments, *flags, "--", *names])
    return shlex.join([*arguments, *names, *flags])
