"""`Explanation`: why a pod is where it is, as values that become JSON."""

from __future__ import annotations

from typing import Literal

import msgspec

from schedviz.trace.phrase import Phrase

#: Whether a node could take the pod. `now`: it would pass every filter. `pods leave`: if pods on that node were gone.
#: `elsewhere`: if something not on that node changed, such as a pod that must be near, the spread over domains, a volume.
#: `never`: not even if the node were empty; the pod or the node would have to be another.
Outlook = Literal["now", "pods leave", "elsewhere", "never"]

#: Where a pod stands. `ignored`: no profile of this scheduler is asked for. `gated`: a PreEnqueue plugin holds it back.
Standing = Literal["pending", "gated", "nominated", "waiting", "scheduled", "deleting", "ignored", "finished"]


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of an explanation."""


class Clause(Part, frozen=True):
    """One reason of a FitError, with the nodes behind its count."""

    count: int
    reason: str
    plugin: str
    code: str
    #: In the order of the snapshot.
    nodes: tuple[str, ...]
    #: What it means, in a sentence, and what people usually find behind it.
    meaning: str = ""
    causes: tuple[str, ...] = ()
    #: The meaning as it can be said in another language; each of the causes is a template by itself.
    meaning_phrase: Phrase | None = None


class Objection(Part, frozen=True):
    """What one Filter plugin by itself has against one node."""

    plugin: str
    code: str
    reasons: tuple[str, ...]


class NodeVerdict(Part, frozen=True):
    """A node and the pod: the plugin whose Status decides, what the others have against it, and the outlook."""

    node: str
    outlook: Outlook
    #: "" where the node passes.
    plugin: str = ""
    code: str = "Success"
    reasons: tuple[str, ...] = ()
    #: Every plugin that would reject it, also those that are not asked any more; the one that decides is among them.
    objections: tuple[Objection, ...] = ()


class Room(Part, frozen=True):
    """Pods that would have to leave one node, so that the pod fits; as few of the least important as there are."""

    node: str
    pods: tuple[str, ...]
    #: Of the pods that would leave.
    highest_priority: int
    #: Whether preemption could make them leave: its profile preempts, the pod may, and all of them have a lower priority.
    by_preemption: bool


class Wake(Part, frozen=True):
    """What would move the pod out of unschedulablePods, and for the sake of which plugin."""

    plugin: str
    #: As upstream names cluster events: `Node/Add`, `Pod/Delete`.
    event: str


class QueuePlace(Part, frozen=True):
    """Where the pod waits."""

    queue: Literal["activeQ", "backoffQ", "unschedulablePods"]
    attempts: int
    #: Virtual seconds of the session.
    since_seconds: float
    #: How many pods of activeQ come before it; None in the other two.
    ahead: int | None = None
    #: When its backoff is over; None where it does not back off.
    backoff_ends_seconds: float | None = None
    #: When it is moved out of unschedulablePods though nothing happened.
    flushed_after_seconds: float | None = None
    gated_by: str = ""
    #: The plugins that rejected it last.
    plugins: tuple[str, ...] = ()
    wakes: tuple[Wake, ...] = ()


class Explanation(Part, frozen=True):
    """Why a pod is where it is."""

    pod: str
    uid: str
    standing: Standing
    #: All of it in one sentence.
    sentence: str
    #: The same as it can be said in another language.
    sentence_phrase: Phrase | None = None
    #: Where it is, or is to be.
    node: str = ""
    #: What the scheduler would say now, without the part about preemption; "" where a node fits.
    message: str = ""
    #: What was said last, word by word: the message of the pod's PodScheduled condition.
    said: str = ""
    outlook: Outlook = "now"
    #: How many nodes the scheduler knows; the counts of `matrix` sum to it.
    nodes: int = 0
    #: Nodes that pass every filter.
    fits: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()
    #: The Filter plugins that were asked, in order.
    plugins: tuple[str, ...] = ()
    #: How many nodes each outlook has.
    outlooks: dict[Outlook, int] = msgspec.field(default_factory=dict)
    matrix: tuple[NodeVerdict, ...] = ()
    #: Where the fewest pods would have to leave; the best first.
    room: tuple[Room, ...] = ()
    queue: QueuePlace | None = None
    #: The pod is nominated to a node where nobody has to go, and will wait there for ever. `cause` and `advice` say why, and what to do.
    for_ever: bool = False
    cause: str = ""
    advice: str = ""
    #: Both as they can be said in another language; of a pod that is nominated for ever.
    cause_phrase: Phrase | None = None
    advice_phrase: Phrase | None = None
    #: Extenders that filter and would be asked over HTTP in a cycle; here they are not. Those with declared answers are.
    extenders_not_asked: tuple[str, ...] = ()
    #: Other pending pods of which the scheduler reads the same: what is said here holds for them.
    alike: tuple[str, ...] = ()
