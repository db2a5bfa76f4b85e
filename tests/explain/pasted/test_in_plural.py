"""A sentence about one pod becomes one about several pods with the same messages."""

from __future__ import annotations

import pytest

from schedviz.explain.pasted.in_plural import in_plural


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("Karpenter cannot add a node for this pod.", "Karpenter cannot add a node for these 6 pods."),
        ("a taint `the pod is`, which the pod does not tolerate", "a taint `the pod is`, which the pods do not tolerate"),
        ("the nodes that the pod selects and tolerates", "the nodes that the pods select and tolerate"),
        ("The pod's volume; the pod requests 1; the pod has", "The pods' volume; the pods request 1; the pods have"),
        ("If the pod belongs here, move the pod to it", "If the pods belong here, move the pods to it"),
    ],
)
def test_the_verb_and_the_owner_follow_the_number(one: str, several: str) -> None:
    assert in_plural(one, 6) == several
    assert in_plural(one, 1) == one
