"""A log about nodes without enough storage is answered with the claim, its size, and its StorageClass."""

from __future__ import annotations

from schedviz.explain.messages.parsed_message import Message
from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

LACKING = (
    'I1026 16:21:00.461724  801139 binder.go:971] "Node has no accessible CSIStorageCapacity with enough capacity" pod="shop/db-0" '
    'node="{node}" pvc="shop/{claim}" pvcSize={size} sc="fast"\n'
)
FAILED = (
    'I1026 16:21:00.461918  801139 factory.go:209] "Unable to schedule pod; no fit; waiting" pod="shop/db-0" '
    'err="0/{nodes} nodes are available: {reasons}."\n'
)
NO_STORAGE = "2 node(s) did not have enough free storage"


def message_of(*claims: str, reasons: str = NO_STORAGE, nodes: int = 2) -> Message:
    lines = "".join(LACKING.format(node=node, claim=claim, size=2 << 40) for node in ("a-1", "a-2") for claim in claims)
    text = lines + FAILED.format(reasons=reasons, nodes=nodes)
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age).messages[0].message


def test_the_claim_its_size_and_its_class_are_named() -> None:
    message = message_of("data-db-0")
    assert message.conclusion == (
        "The claim `shop/data-db-0` requests 2Ti of StorageClass `fast`, and no node has access to that much free storage."
    )
    assert message.first.startswith("free up or add storage; ")
    assert message.clauses[0].advice == ""


def test_several_claims_and_other_reasons_are_not_one_claim_s_fault() -> None:
    assert message_of("data-db-0", "logs-db-0").conclusion == ""
    assert "requests" not in message_of("data-db-0", reasons=f"1 Insufficient cpu, {NO_STORAGE}", nodes=3).conclusion
