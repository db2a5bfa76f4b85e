"""`Explanation`: why a pod is where it is, as values that become JSON."""

from __future__ import annotations

from typing import Literal, Self

import msgspec

from schedviz.explain.details.detail import AnyDetail
from schedviz.explain.finding import Finding
from schedviz.trace.phrase import Phrase

#: Whether a node could take the pod. `now`: it passes every filter. `pods leave`: if pods were removed from that node.
#: `elsewhere`: if something outside that node changed, such as a pod for affinity, the spread over domains, or a volume.
#: `never`: not even if the node were empty; the pod or the node would have to change.
Outlook = Literal["now", "pods leave", "elsewhere", "never"]

#: The state of a pod. `ignored`: it requests another scheduler. `gated`: a PreEnqueue plugin holds it back.
Standing = Literal["pending", "gated", "nominated", "waiting", "scheduled", "deleting", "ignored", "finished"]


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of an explanation."""

    def with_phrases(self, **phrases: Phrase | None) -> Self:
        """The part with the texts of these phrases, and with the phrases: `sentence=said` sets `sentence` and `sentence_phrase`.

        None: "" and None.
        """
        texts = {name: said.text if said is not None else "" for name, said in phrases.items()}
        return msgspec.structs.replace(self, **texts, **{f"{name}_phrase": said for name, said in phrases.items()})


class Clause(Part, frozen=True):
    """One reason of a FitError, with the nodes behind its count."""

    count: int
    reason: str
    plugin: str
    code: str
    #: Those that come closest to fitting the pod first: fewest objections, then the smallest shortage, then in the order of the snapshot.
    nodes: tuple[str, ...]
    #: Its meaning in a sentence, and its usual causes.
    meaning: str = ""
    #: The same in one plain sentence, with the numbers of this case: "2 nodes are cordoned". "" for a reason of no known plugin.
    headline: str = ""
    headline_phrase: Phrase | None = None
    causes: tuple[str, ...] = ()
    #: What to do about it.
    advice: str = ""
    #: The advice with the values of this case; None: it is a template without values.
    advice_phrase: Phrase | None = None
    #: The meaning for translation; each cause and the advice are templates.
    meaning_phrase: Phrase | None = None
    #: The simulated releases whose default plugins give this reason; empty: only older releases do, or none.
    releases: tuple[str, ...] = ()
    #: The numbers behind it; empty for a message without its cluster.
    details: tuple[AnyDetail, ...] = ()
    #: Whether it only tells why other nodes than those of the main reason are no use, such as those of the control plane.
    is_aside: bool = False

    @property
    def advice_to_say(self) -> Phrase | None:
        """The advice as a phrase; None: there is none."""
        return self.advice_phrase or (Phrase(self.advice) if self.advice else None)


class Objection(Part, frozen=True):
    """The objection of one Filter plugin alone to one node."""

    plugin: str
    code: str
    reasons: tuple[str, ...]


class NodeVerdict(Part, frozen=True):
    """A node and the pod: the plugin whose Status decides, the other objections, and the outlook."""

    node: str
    outlook: Outlook
    #: "" if the node passes.
    plugin: str = ""
    code: str = "Success"
    reasons: tuple[str, ...] = ()
    #: Every plugin that would reject it, including those that are not called any more and the deciding one.
    objections: tuple[Objection, ...] = ()


class LeavingPods(Part, frozen=True):
    """The pods that would have to leave one node so that the pod fits: as few as possible, of the lowest priority."""

    node: str
    pods: tuple[str, ...]
    #: The highest priority of the pods that would leave.
    highest_priority: int
    #: Whether preemption could remove them: its profile preempts, the pod may, and all of them have a lower priority.
    by_preemption: bool


class Wake(Part, frozen=True):
    """An event that would move the pod out of unschedulablePods, and the plugin that registered it."""

    plugin: str
    #: Upstream's name of the cluster event: `Node/Add`, `Pod/Delete`.
    event: str


class QueuePlace(Part, frozen=True):
    """Where the pod waits."""

    queue: Literal["activeQ", "backoffQ", "unschedulablePods"]
    attempts: int
    #: Virtual seconds of the session.
    since_seconds: float
    #: The number of pods of activeQ before it; None in the other two.
    ahead: int | None = None
    #: The first moment, in virtual seconds, at which it no longer backs off; None: it does not back off.
    backoff_ends_seconds: float | None = None
    #: When it is moved out of unschedulablePods without an event.
    flushed_after_seconds: float | None = None
    #: The names of its scheduling gates, if they gate it.
    gated_by: str = ""
    #: The PreEnqueue plugin that gates it, and what that plugin says; "": none does.
    gating_plugin: str = ""
    gating_reason: str = ""
    #: The plugins that rejected it last.
    plugins: tuple[str, ...] = ()
    wakes: tuple[Wake, ...] = ()

    @property
    def is_tried_again(self) -> bool:
        """Whether the pod was tried before, and its next attempt needs no event."""
        return self.queue != "unschedulablePods" and self.attempts > 0


class Explanation(Part, frozen=True):
    """Why a pod is where it is."""

    pod: str
    uid: str
    standing: Standing
    #: A summary in one sentence.
    sentence: str
    #: The same for translation.
    sentence_phrase: Phrase | None = None
    #: Its node, or its nominated node.
    node: str = ""
    #: The message of the pod's condition if the scheduler tried it now, with preemption's part; "" if a node fits. In an overview it is
    #: without preemption's part. Of a gated pod, which the scheduler does not try: the API server's message.
    message: str = ""
    #: The last message, verbatim: that of the pod's PodScheduled condition.
    said: str = ""
    #: Since when the pod has been unschedulable, according to that condition (RFC 3339); "" if it does not say.
    said_since: str = ""
    #: Whether the attempt ends with an error, which is `message`: it is not known whether a node fits.
    failed: bool = False
    #: A possible reason why `said`, which another scheduler wrote, differs from `message`; "" if it does not differ.
    disagreement: str = ""
    disagreement_phrase: Phrase | None = None
    #: A kind of object that the pod needs and the files lack, so that it was not tried: `clauses` are those of `said`; "" if there is none.
    lacks: str = ""
    outlook: Outlook = "now"
    #: The number of nodes that the scheduler knows; the counts of `matrix` sum to it.
    nodes: int = 0
    #: Nodes that pass every filter.
    fits: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()
    #: The clause of the nodes that come closest to fitting the pod; None if a node fits or no node was tried.
    main: Clause | None = None
    #: The Filter plugins that were called, in order.
    plugins: tuple[str, ...] = ()
    #: The number of nodes by outlook.
    outlooks: dict[Outlook, int] = msgspec.field(default_factory=dict)
    matrix: tuple[NodeVerdict, ...] = ()
    #: Nodes from which pods would have to leave, the best first: those where preemption can evict them, then by the highest priority among
    #: these pods, then by their number.
    room: tuple[LeavingPods, ...] = ()
    queue: QueuePlace | None = None
    #: Terminating pods of its nominated node, for which it waits.
    victims: tuple[str, ...] = ()
    #: The pod is nominated to a node where no pod is terminating, and will wait forever.
    for_ever: bool = False
    #: Why the pod is nominated, where that needs an explanation; "" otherwise.
    cause: str = ""
    #: What to do about the nomination, or about scheduling gates.
    advice: str = ""
    #: Both for translation.
    cause_phrase: Phrase | None = None
    advice_phrase: Phrase | None = None
    #: Extenders with a filter that would be called over HTTP in a cycle, but not here. Those with declared answers are evaluated.
    extenders_not_asked: tuple[str, ...] = ()
    #: What the doctor found in the files about the pod, and about the nodes that could take it.
    findings: tuple[Finding, ...] = ()
    #: What the pod's group means for it; "" if it can be scheduled alone. `group_holds_back`: it is not tried because of its group.
    group: str = ""
    group_phrase: Phrase | None = None
    group_holds_back: bool = False
    #: Other pending pods with equal requirements: the same applies to them.
    alike: tuple[str, ...] = ()
    #: The simulated release of kube-scheduler.
    release: str = ""

    @property
    def lacks_change(self) -> bool:
        """Whether something has to change before the pod can be placed: no node fits, or its group may not fit."""
        return bool(self.matrix) and not self.lacks and (not self.fits or bool(self.group))

    @property
    def is_said_by_simulation(self) -> bool:
        """Whether the simulated scheduler wrote `said`, as in a generated cluster: it has tried the pod."""
        return bool(self.said) and not self.said_since and self.queue is not None and self.queue.attempts > 0

    @property
    def findings_to_read(self) -> tuple[Finding, ...]:
        """The findings without what the sentence says already."""
        return tuple(finding for finding in self.findings if not self._says(finding))

    @property
    def advice_of_sentence(self) -> str:
        """What to do about a finding that the sentence says; "": there is none."""
        return next((finding.advice for finding in self.findings if self._says(finding)), "")

    def _says(self, finding: Finding) -> bool:
        return finding.sentence.removeprefix("pod ").rstrip(".") == self.sentence.rstrip(".")

    @property
    def clauses_to_read(self) -> list[Clause]:
        """The main clause, then those that concern the most nodes. Without nodes the most likely cause is first already."""
        if not self.nodes or self.lacks:
            return list(self.clauses)
        return sorted(self.clauses, key=lambda clause: (clause != self.main, clause.is_aside, -clause.count))
