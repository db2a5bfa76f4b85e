"""`PodContext`: what a text says about one pod, from which its answer is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schedviz.explain.autoscalers.verdict import AllRepeats
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.kube.text_facts import FailedClaim, PodFact, TextFact


@dataclass(frozen=True, slots=True)
class PodContext:
    """The messages of a text about one pod, with what else the text says."""

    #: `namespace/name`; "": the text does not name it.
    pod: str
    messages: Sequence[ParsedMessage]
    #: The newest message of the scheduler, then that of each other source.
    newest: Sequence[ParsedMessage]
    #: All facts of the text, also those about other pods and about nodes.
    facts: Sequence[TextFact]
    #: The claims of the pod that have no volume.
    failed_claims: Sequence[FailedClaim]
    #: As in `newest_first`.
    age: Callable[[str], float]
    #: How often an autoscaler repeated its events.
    repeats: AllRepeats

    @property
    def own_facts(self) -> list[PodFact]:
        """The facts that name the pod; none if the text does not name it."""
        return [fact for fact in self.facts if isinstance(fact, PodFact) and fact.pod == self.pod] if self.pod else []

    @property
    def newest_of_autoscalers(self) -> list[ParsedMessage]:
        return [message for message in self.newest if message.writer in (CLUSTER_AUTOSCALER, KARPENTER)]

    @property
    def text_of_autoscalers(self) -> str:
        """All that autoscalers say about the pod; "": nothing."""
        return " ".join(message.text for message in self.messages if message.writer in (CLUSTER_AUTOSCALER, KARPENTER))
