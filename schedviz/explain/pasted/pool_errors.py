"""What Karpenter's log says about its NodePools: as notes of a pod's answer, or as messages of a text that names no pod."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.explanation import Clause
from schedviz.explain.messages.parsed_message import Message, ParsedMessage
from schedviz.explain.pasted.pod_answer import Event
from schedviz.explain.reason_tables.autoscalers import KARPENTER
from schedviz.trace.phrase import Phrase, phrase

#: Errors in a note.
_MAX_ERRORS: Final = 2
#: Objects of the cloud that a node class selects.
_SELECTED: Final = re.compile(r"\bno (subnets|security groups|AMIs|amis)\b")
#: What their selectors in a node class are called.
_SELECTED_BY: Final = {"subnets": "subnet", "security groups": "security group", "amis": "AMI"}


def notes_about_pools(newest: Sequence[ParsedMessage], errors: Sequence[Event]) -> list[Phrase]:
    """What the log says about NodePools beside Karpenter's refusal of a pod. `newest`: the pod's newest message of each source."""
    if all(message.writer != KARPENTER or not message.pod for message in newest):
        return []
    return [
        phrase(
            "Karpenter also reports for NodePool `{pool}`: {error}. {advice}.", pool=event.pool, error=event.message, advice=_advice(event)
        )
        for event in errors[:_MAX_ERRORS]
    ]


def messages_about_pools(events: Sequence[Event]) -> list[ParsedMessage]:
    """The errors about NodePools of a log that names no pod."""
    messages = []
    for event in [event for event in events if event.pool]:
        said = phrase("Karpenter cannot use NodePool `{pool}`: {error}", pool=event.pool, error=event.message)
        advice = _advice(event)
        clause = Clause(
            0, event.message, KARPENTER, "", (), headline=said.text, headline_phrase=said, advice=advice.text, advice_phrase=advice
        )
        messages.append(ParsedMessage(f"nodepool/{event.pool}", event.at, event.message, Message(0, (clause,))))
    return messages


def _advice(event: Event) -> Phrase:
    if found := _SELECTED.search(event.message):
        return phrase(
            "First correct the {what} selector in its EC2NodeClass: `kubectl get ec2nodeclasses -o yaml`",
            what=_SELECTED_BY[found[1].lower()],
        )
    return phrase("First check the NodePool and its node class: `kubectl describe nodepool {pool}`", pool=event.pool)
