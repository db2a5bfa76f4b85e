"""What Karpenter's log says about its NodePools: as notes of a pod's answer, or as messages of a text that names no pod."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.explanation import Clause
from schedviz.explain.messages.parsed_message import Message, ParsedMessage
from schedviz.explain.reason_tables.autoscalers import KARPENTER
from schedviz.kube.text_facts import PoolError, TextFact
from schedviz.trace.phrase import Phrase, phrase

#: Errors in a note.
_MAX_ERRORS: Final = 2
#: Objects of the cloud that a node class selects.
_SELECTED: Final = re.compile(r"\bno (subnets|security groups|AMIs|amis)\b")
#: What their selectors in a node class are called.
_SELECTED_BY: Final = {"subnets": "subnet", "security groups": "security group", "amis": "AMI"}


def notes_about_pools(newest: Sequence[ParsedMessage], errors: Sequence[PoolError]) -> list[Phrase]:
    """What the log says about NodePools beside Karpenter's refusal of a pod. `newest`: the pod's newest message of each source."""
    if all(message.writer != KARPENTER or not message.pod for message in newest):
        return []
    return [
        phrase(
            "Karpenter also reports for NodePool `{pool}`: {error}. {advice}.", pool=error.pool, error=error.message, advice=_advice(error)
        )
        for error in errors[:_MAX_ERRORS]
    ]


def messages_about_pools(facts: Sequence[TextFact]) -> list[ParsedMessage]:
    """The errors about NodePools of a log that names no pod."""
    messages = []
    for error in [fact for fact in facts if isinstance(fact, PoolError)]:
        said = phrase("Karpenter cannot use NodePool `{pool}`: {error}", pool=error.pool, error=error.message)
        advice = _advice(error)
        clause = Clause(0, error.message, KARPENTER, "", ()).with_phrases(headline=said, advice=advice)
        messages.append(ParsedMessage(f"nodepool/{error.pool}", "", error.message, Message(0, (clause,))))
    return messages


def _advice(error: PoolError) -> Phrase:
    if found := _SELECTED.search(error.message):
        return phrase(
            "First correct the {what} selector in its EC2NodeClass: `kubectl get ec2nodeclasses -o yaml`",
            what=_SELECTED_BY[found[1].lower()],
        )
    return phrase("First check the NodePool and its node class: `kubectl describe nodepool {pool}`", pool=error.pool)
