"""`Card`: what all formats show. Texts are plain; a renderer escapes them."""

from __future__ import annotations

import re
from typing import Final, Literal

from schedviz.explain.advice_label import ARROW, NEXT_STEP
from schedviz.explain.explanation import Part

#: Code in a sentence: what is between single backticks. `split` gives text and code in turn.
CODE: Final = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")


class Bar(Part, frozen=True):
    """One node's resource, or one topology domain's pods."""

    label: str
    #: In base units: milli-cpus, bytes, or a count. `limit` is the allocatable amount, or the most pods that the domain may have.
    used: int
    limit: int
    #: The numbers in words: `1 of 4 free`.
    text: str


class Chart(Part, frozen=True):
    """Bars on one scale, the nearest to fitting first."""

    kind: Literal["resource", "spread"]
    #: What the pod adds to a bar.
    requested: int
    bars: tuple[Bar, ...]

    @property
    def longest(self) -> int:
        """The length of the scale, at least 1."""
        return max(1, *(max(bar.limit, bar.used + self.requested) for bar in self.bars))


class Line(Part, frozen=True):
    """A sentence, or the pods of a group and the numbers behind their reason."""

    text: str
    names: tuple[str, ...] = ()


class Reason(Part, frozen=True):
    """A reason, the nodes (of a pod) or pods (of an overview) that have it, and its numbers."""

    #: 0: it is not about nodes.
    count: int
    reason: str
    #: The same in one plain sentence, which is the heading; "" if `reason` is not the scheduler's own text, or is of no known plugin.
    headline: str = ""
    plugin: str = ""
    lines: tuple[Line, ...] = ()
    #: The nodes, those that come closest to fitting the pod first.
    nodes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    #: What to do about it, with commands between backticks.
    todo: str = ""
    #: What else that does.
    caution: str = ""
    #: Commands to paste, and YAML of several lines.
    commands: tuple[str, ...] = ()
    #: What gives the reason.
    writer: str = "kube-scheduler"


class Fix(Part, frozen=True):
    """A change that a dry run verified."""

    what: str
    #: Its result: `fits on 2 nodes`; "" if there is nothing to add.
    effect: str
    #: Commands to paste, and YAML of several lines.
    commands: tuple[str, ...] = ()


class Card(Part, frozen=True):
    """An explanation or an overview, ready to draw."""

    #: The pod `namespace/name`, or the number of `pods`; "" for an overview.
    subject: str
    #: Its state, such as `pending`; "" for an overview.
    standing: str
    #: "": the first reason says it. It may have code between backticks, as all sentences of a card.
    sentence: str
    #: What `count` of a reason counts.
    unit: Literal["nodes", "pods"]
    reasons: tuple[Reason, ...]
    #: The names of the pods, if the card is about several.
    pods: tuple[str, ...] = ()
    #: What to do, or to try first, before all reasons; "" if each reason has its own.
    todo: str = ""
    #: What else the text says about the pod.
    note: str = ""
    #: The reasons of all nodes in one sentence, if `sentence` says something else; "": there is none.
    conclusion: str = ""
    #: Why the other nodes, which have none of the decisive reasons, are no use, in one sentence without a full stop; and their number.
    others: str = ""
    other_nodes: int = 0
    #: The scheduler's message now, and those of autoscalers, one a line.
    message: str = ""
    #: The message that the cluster's scheduler wrote, and why it differs from the simulated one; "" if there is none.
    said: str = ""
    disagreement: str = ""
    #: Since when the pod has been unschedulable (RFC 3339); "" if unknown or not shown.
    said_since: str = ""
    #: What the doctor found about the pod: sentences.
    findings: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    #: The simulated release of kube-scheduler; "": unknown.
    release: str = ""
    #: The cluster or the file, and when the card was made; "" if the caller does not say.
    origin: str = ""
    #: Whether a simulation computed the card; False for a message that was only read.
    simulated: bool = True

    def label_of(self, reason: Reason) -> str:
        """What precedes what to do about a reason: the label, once if the reasons are those of one pod, and an arrow for further ones."""
        if self.unit == "pods":
            return NEXT_STEP
        first = None if self.todo else next((each for each in self.reasons if each.todo), None)
        return NEXT_STEP if reason is first else ARROW

    @property
    def matches_cluster_message(self) -> bool:
        """Whether the cluster's own message is the same, word for word."""
        return bool(self.said) and self.said == self.message

    @property
    def shown_message(self) -> str:
        """The message that a card shows; "": the cluster has one of its own with other words, which stands for it."""
        return "" if self.said and self.said != self.message else self.message

    @property
    def is_only_simulated(self) -> bool:
        """Whether the message is of the simulation, and the cluster has none."""
        return self.simulated and not self.said

    @property
    def scheduler(self) -> str:
        """The simulated scheduler."""
        return f"kube-scheduler {self.release}".rstrip()

    @property
    def title(self) -> str:
        """A heading in plain text."""
        return f"Why {self.subject} {'are' if self.pods else 'is'} {self.standing}" if self.subject else self.sentence.replace("`", "")
