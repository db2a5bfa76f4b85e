"""A message about the node selector names the label that the nodes in the text do not have."""

from __future__ import annotations

from schedviz.explain.messages.parsed_message import Message
from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

EVENT = "  Warning  FailedScheduling  29s  default-scheduler  0/{nodes} nodes are available: {reasons}.\n"
SELECTOR = '$ kubectl get deployment web -o jsonpath=\'{.spec.template.spec.nodeSelector}\' | jq\n{\n  "disk": "ssd"\n}\n'
NO_MATCH = "3 node(s) didn't match Pod's node affinity/selector"


def message_of(*labels: str, reasons: str = NO_MATCH, nodes: int = 3, selector: str = SELECTOR) -> Message:
    rows = "".join(f"a-{number}   Ready   <none>   4d   v1.33.2   {each}\n" for number, each in enumerate(labels))
    text = f"{EVENT.format(reasons=reasons, nodes=nodes)}\n{selector}\nNAME   STATUS   ROLES   AGE   VERSION   LABELS\n{rows}"
    reading = read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age)
    return reading.messages[0].message


def test_the_value_that_a_node_has_is_named() -> None:
    message = message_of("disk=hdd", "disk=hdd")
    assert message.conclusion == "The node selector requires `disk=ssd`, but a node in the text has `disk=hdd`."
    assert message.first.endswith("run `kubectl label node NAME disk=ssd --overwrite`")
    assert not message.clauses[0].advice


def test_a_label_that_no_node_has_is_named() -> None:
    message = message_of("zone=a", "zone=b")
    assert message.conclusion == "The node selector requires `disk=ssd`, but nodes in the text do not have the label `disk`."


def test_nodes_of_the_control_plane_are_left_out() -> None:
    reasons = f"1 node(s) had untolerated taint {{node-role.kubernetes.io/control-plane: }}, {NO_MATCH}"
    assert message_of("disk=hdd", reasons=reasons, nodes=4).conclusion.startswith("The node selector requires `disk=ssd`")


def test_nothing_is_compared_if_a_node_matches_or_the_pod_has_other_reasons() -> None:
    assert message_of("disk=hdd", "disk=ssd").conclusion == ""
    assert message_of("disk=hdd", selector="").conclusion == ""
    assert message_of("disk=hdd", selector=SELECTOR * 2).conclusion == ""
    assert "disk" not in message_of("disk=hdd", reasons=f"1 Insufficient cpu, {NO_MATCH}", nodes=4).conclusion
