"""The words of a message tell which release its scheduler is of."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.reason_releases import releases_of
from schedviz.trace.releases import RELEASES, V1_27, V1_36


@pytest.mark.parametrize(
    ("reason", "releases"),
    [
        ("Insufficient cpu", RELEASES),
        ("node(s) were unschedulable", RELEASES),
        ("No preemption victims found for incoming pod", RELEASES),
        ("node(s) had untolerated taint {gpu: true}", (V1_27,)),
        ("node(s) had volume node affinity conflict", (V1_27,)),
        ("node(s) had untolerated taint(s)", (V1_36,)),
        ("node(s) didn't match PersistentVolume's node affinity", (V1_36,)),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity]", (V1_36,)),
        ("cannot allocate all claims", (V1_36,)),
        ("node(s) didn't match node selector", ()),
    ],
)
def test_a_reason_is_of_the_releases_that_word_it_so(reason: str, releases: tuple[str, ...]) -> None:
    assert releases_of(reason) == releases


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("0/2 nodes are available: 2 Insufficient cpu.", ""),
        ("0/2 nodes are available: 2 node(s) had untolerated taint(s).", "The wording is that of kube-scheduler v1.36, not of v1.27.1."),
        (
            "0/2 nodes are available: 2 node(s) had untolerated taint {a: b}.",
            "The wording is that of kube-scheduler v1.27.1, not of v1.36.",
        ),
        ("0/2 nodes are available: 2 node(s) didn't match node selector.", "The wording is that of a kube-scheduler before v1.27.1."),
        (
            "0/2 nodes are available: 2 node(s) had untolerated taint {a: b}. no new claims to deallocate, preemption: not helpful.",
            "The wording is that of a kube-scheduler between v1.27.1 and v1.36.",
        ),
        ("0/2 nodes are available: 2 the moon is wrong.", ""),
    ],
)
def test_the_wording_of_a_message_shows_its_release(text: str, wording: str) -> None:
    assert parse_message(text).wording == wording


def test_notes_of_a_plugin_are_not_reasons() -> None:
    message = parse_message(
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    )

    assert [(clause.count, clause.reason) for clause in message.clauses] == [(2, "Insufficient cpu")]
    assert message.unaccounted == 0
