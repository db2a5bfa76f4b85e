"""A message about too little CPU or memory is read with what a described node has free."""

from __future__ import annotations

import pytest

from schedviz.explain.pasted.text_reading import read_text
from schedviz.ingest.pasted.pasted_text import messages_in, seconds_of_age
from schedviz.ingest.pasted.pod_events import pod_events_in

NODE = """
Allocatable:
  cpu:                3500m
  memory:             8006620Ki
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests      Limits
  --------           --------      ------
  cpu                2066m (59%)   0 (0%)
  memory             7546Mi (96%)  512Mi (6%)
"""


@pytest.mark.parametrize(
    ("reasons", "note"),
    [
        ("1 Insufficient memory", "A described node has ≈273Mi of memory free: its pods request 7546Mi of ≈7.6Gi."),
        ("1 Insufficient cpu", "A described node has 1.434 CPU free: its pods request 2.066 of 3.5 CPU."),
        ("1 Too many pods", ""),
    ],
)
def test_what_a_described_node_has_free_is_said(reasons: str, note: str) -> None:
    text = f"0/1 nodes are available: {reasons}.\n{NODE}"
    [answer] = read_text(messages_in(text), pod_events_in(text), {}, seconds_of_age).answers
    assert answer.note == note


def test_nothing_is_said_without_the_total_or_of_more_nodes_than_the_message_counts() -> None:
    for node in (NODE[: NODE.index("Allocated")], NODE * 2):
        text = f"0/1 nodes are available: 1 Insufficient cpu.\n{node}"
        assert all(not answer.note for answer in read_text(messages_in(text), pod_events_in(text), {}, seconds_of_age).answers)
