"""`with_lacking_capacity`: the message about nodes without enough free storage, with the claim that the scheduler's log names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.explain.messages.conclusion import advised
from schedviz.explain.messages.parsed_message import ParsedMessage, shown_name
from schedviz.kube.printed_amount import exact_amount
from schedviz.kube.text_facts import LackingClaim, TextFact
from schedviz.trace.phrase import phrase

_REASON: Final = "node(s) did not have enough free storage"


def with_lacking_capacity(said: ParsedMessage, facts: Sequence[TextFact]) -> ParsedMessage:
    """The message, concluding with the size and the StorageClass of the claim; as it is if the pod has other reasons or several claims."""
    message = said.message
    lacking = {fact for fact in facts if isinstance(fact, LackingClaim) and fact.pod == said.pod}
    if said.writer or len(message.clauses) != 1 or message.clauses[0].reason != _REASON or len(lacking) != 1:
        return said
    [claim] = lacking
    [clause] = message.clauses
    conclusion = phrase(
        "The claim `{claim}` requests {amount} of StorageClass `{class}`, and no node has access to that much free storage.",
        **{"claim": shown_name(claim.claim), "amount": exact_amount("memory", claim.requested_bytes), "class": claim.storage_class},
    )
    advice = clause.advice_to_say
    return msgspec.structs.replace(
        said,
        message=msgspec.structs.replace(message, clauses=(advised(clause, None),)).with_phrases(conclusion=conclusion, first=advice),
    )
