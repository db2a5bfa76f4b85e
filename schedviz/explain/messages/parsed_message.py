"""`Message` and `ParsedMessage`: what a message of a scheduler or an autoscaler says, and which of several is the newest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from schedviz.explain.explanation import Clause, Part
from schedviz.explain.messages.combined_clauses import without_control_plane
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.explain.reason_tables.creation import API_SERVER
from schedviz.explain.reason_tables.kubelet import KUBELET
from schedviz.explain.reason_tables.queues import GROUP_SCHEDULERS, KUEUE
from schedviz.explain.reason_tables.volumes import CLAIM_EVENTS
from schedviz.explain.reason_tables.whole import DESCRIPTION, POD_OBJECT, SCHEDULER_LOG, TABLE_OF_PODS
from schedviz.trace.phrase import Phrase

#: The writer of events about claims.
PROVISIONER: Final = CLAIM_EVENTS
#: The writer of what follows from the volumes and claims in a text.
STORAGE_TEXT: Final = "the text"
_WRITERS: Final = frozenset(
    {
        CLUSTER_AUTOSCALER,
        KARPENTER,
        API_SERVER,
        DESCRIPTION,
        POD_OBJECT,
        TABLE_OF_PODS,
        SCHEDULER_LOG,
        PROVISIONER,
        STORAGE_TEXT,
        KUBELET,
        KUEUE,
        *GROUP_SCHEDULERS,
    }
)


class NotAMessageError(ValueError):
    """The text is no message of a scheduler."""


class Message(Part, frozen=True):
    """The contents of a message."""

    #: 0: it counts no nodes.
    nodes: int
    #: The one to act on first leads.
    clauses: tuple[Clause, ...] = ()
    #: Sentences that count no nodes, and whose meaning is not known.
    pre_filter: str = ""
    #: Preemption's findings, in the same form.
    preemption: tuple[Clause, ...] = ()
    #: The reasons in one sentence, without those of the control plane; "" for fewer than two.
    conclusion: str = ""
    conclusion_phrase: Phrase | None = None
    #: What to try first, without a full stop; "" if the reasons leave several possibilities, or are fewer than two.
    first: str = ""
    first_phrase: Phrase | None = None
    #: Nodes without a clause: not evaluated, or the text was cut. Negative: nodes with several reasons.
    unaccounted: int = 0
    #: What the counts themselves say; "" if nothing.
    finding: str = ""
    finding_phrase: Phrase | None = None
    #: Which of the simulated releases words it so, if that tells anything; "" otherwise.
    wording: str = ""
    wording_phrase: Phrase | None = None
    #: Whether it leaves nodes out although its scheduler evaluates every node: the defect of kubernetes issue 91601.
    loses_nodes: bool = False

    @property
    def preemption_to_read(self) -> tuple[Clause, ...]:
        """Preemption's findings; none if they only say on how many nodes evictions would not help, beside reasons that say what to do."""
        is_usual = all(clause.count and clause.headline for clause in self.preemption)
        return () if is_usual and self.clauses else self.preemption


class ParsedMessage(Part, frozen=True):
    """A message in a longer text, and its clauses."""

    #: `namespace/name`; "": the text does not name it.
    pod: str
    #: When it was sent, as the text has it ("5m ago"); "": unknown.
    at: str
    text: str
    message: Message
    #: What wrote it, by its first clause: `cluster-autoscaler`, `karpenter`, `kube-apiserver`, `kubectl describe`; "": a scheduler did.
    writer: str = ""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "writer", writer_of(self.message.clauses[0]) if self.message.clauses else "")


def whole_headline(message: Message) -> str:
    """The headline of the reason that all nodes outside the control plane share; "" if they have several."""
    others, left = without_control_plane(message.nodes, message.clauses)
    return others[0].headline if len(others) == 1 and others[0].count == left > 0 else ""


def writer_of(clause: Clause) -> str:
    """What gave a reason, as `ParsedMessage.writer`."""
    return clause.plugin if clause.plugin in _WRITERS else ""


def shown_name(key: str) -> str:
    """`namespace/name` as kubectl prints it: without `default`, which is also that of a text which names no namespace."""
    return key.removeprefix("default/")


def newest_first(messages: Iterable[ParsedMessage], age: Callable[[str], float]) -> list[ParsedMessage]:
    """The messages by pod, in the order of the text; of each pod those of the scheduler, then those of autoscalers, the newest first.

    `age` tells the seconds since a message was sent from its `at`. Messages without an age keep their order; of several with the same one
    the last is the newest, as in the lists that kubectl prints.
    """
    messages = list(messages)
    pods = {pod: number for number, pod in enumerate(dict.fromkeys(message.pod for message in messages))}
    ages = [age(message.at) for message in messages]
    order = sorted(
        range(len(messages)),
        key=lambda at: (pods[messages[at].pod], messages[at].writer, ages[at], -at if ages[at] < float("inf") else at),
    )
    return [messages[at] for at in order]


def newest_of_each_source(messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> list[ParsedMessage]:
    """Of the messages about the first one's pod, the newest of the scheduler, then that of each autoscaler. `age` as in `newest_first`.

    Without ages, a scheduler's first is taken: nothing says which is newer.
    """
    newest: dict[str, ParsedMessage] = {}
    for message in newest_first(messages, age):
        if message.pod == messages[0].pod:
            newest.setdefault(message.writer, message)
    return list(newest.values())


def one_full_stop(message: str) -> str:
    """A message to show. kube-scheduler 1.27 ends with two full stops: preemption's part has its own."""
    return message[:-1] if message.endswith("..") and not message.endswith("...") else message


def preemption_differs(message: str, said: str) -> bool:
    """Whether two messages differ in what preemption says, which both of them have."""
    of_both = [text.partition("preemption: ")[2].strip(" .") for text in (message, said)]
    return all(of_both) and of_both[0] != of_both[1]
