"""What events have got since the first builds is left out where they are compared with what those told."""

from __future__ import annotations

import msgspec

from schedviz.trace.added_members import without_what_was_added
from schedviz.trace.events import ApiWritten, BindingStarted, CycleEnded, CycleStarted


def test_an_event_is_as_the_first_builds_told_it() -> None:
    event = CycleStarted(event=2, at=0.5, cycle=1, pod="default/web", uid="u1", attempts=1)

    assert b"uid" not in msgspec.json.encode(without_what_was_added(event))
    assert without_what_was_added(event).attempts == 1


def test_the_end_of_a_cycle_names_its_pod_since() -> None:
    event = CycleEnded(event=4, at=0.5, cycle=1, pod="default/web", outcome="scheduled", node="node-1")

    assert msgspec.to_builtins(without_what_was_added(event)).keys() == {"t", "event", "at", "cycle", "outcome", "node"}
    assert msgspec.json.decode(msgspec.json.encode(without_what_was_added(event)), type=CycleEnded).pod == ""


def test_nothing_else_is_left_out() -> None:
    written = ApiWritten(event=3, at=0.5, cycle=1, verb="create", resource="pods", kind="Pod", key="default/web", uid="u1")
    begun = BindingStarted(event=4, at=0.5, cycle=1, pod="default/web", node="node-1")

    told = msgspec.to_builtins(without_what_was_added(written))
    assert {**told, "uid": "u1"} == msgspec.to_builtins(written)
    assert without_what_was_added(begun) == begun
