"""Each list of conditions belongs to the object whose name stands before it, however many lists a text has."""

from __future__ import annotations

from schedviz.ingest.pasted.karpenter_states import karpenter_states

FAILING = "Status:\n  Conditions:\n    Message: {message}\n    Status: False\n    Type: Launched\n"


def test_each_described_object_has_its_own_name() -> None:
    text = "".join(f"Name: claim-{number}\n{FAILING.format(message=number)}" for number in range(3))
    assert [(each.pod, each.message) for each in karpenter_states(text, is_alone=True)] == [
        (f"nodeclaim/claim-{number}", f"NodeClaim claim-{number}: Launched=False: {number}") for number in range(3)
    ]


def test_a_name_in_yaml_follows_the_kind_of_the_newest_object() -> None:
    text = "".join(f"kind: NodeClaim\nmetadata:\n  name: claim-{number}\n{FAILING.format(message=number)}" for number in range(2))
    text = f"metadata:\n  name: earlier\n{text}"
    assert [each.pod for each in karpenter_states(text, is_alone=True)] == ["nodeclaim/claim-0", "nodeclaim/claim-1"]


def test_conditions_before_any_name_have_none() -> None:
    text = f"{FAILING.format(message='no name')}Name: later\n"
    assert [each.message for each in karpenter_states(text, is_alone=True)] == ["NodeClaim: Launched=False: no name"]


def test_a_text_full_of_conditions_is_read_in_one_pass() -> None:
    # If each list searched the text before it, this would run into the time limit of all tests.
    text = FAILING.format(message="x") * 30_000
    assert len(list(karpenter_states(text, is_alone=True))) == 1
