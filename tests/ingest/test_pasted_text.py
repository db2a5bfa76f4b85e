"""Messages of the scheduler are found in whatever somebody pastes."""

from __future__ import annotations

import json

import pytest

from schedviz.ingest.pasted_text import LONGEST, MOST_MESSAGES, messages_in, plain
from schedviz.ingest.scheduler_messages import PodMessage

CPU = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
TAINT = "0/3 nodes are available: 3 node(s) had untolerated taint {gpu: true}."

DESCRIBED = f"""
\x1b[32mme@host\x1b[0m:~$ kubectl describe pod web-1 -n shop
Name:             web-1
Namespace:        shop
Priority:         0
Node:             <none>
Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Warning  FailedScheduling  5m (x12 over 10m)  default-scheduler  {CPU}
"""


def test_a_described_pod_is_named() -> None:
    assert messages_in(DESCRIBED) == [PodMessage("shop/web-1", CPU)]


@pytest.mark.parametrize(
    ("text", "pod", "at"),
    [
        (
            f"LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n5m10s   Warning   FailedScheduling   pod/web-1   {TAINT}",
            "default/web-1",
            "5m10s ago",
        ),
        (
            f"NAMESPACE  LAST SEEN  TYPE  REASON  OBJECT  MESSAGE\nshop  5m  Warning  FailedScheduling  pod/web-1  {TAINT}",
            "shop/web-1",
            "5m ago",
        ),
        (
            f'I1123 10:00:00.000000 1 schedule_one.go:1] "Unable to schedule pod; no fit; waiting" pod="shop/web-1" err="{TAINT}"',
            "shop/web-1",
            "",
        ),
        (f"> my pod is stuck:\n> {TAINT}\n\nany idea?", "", ""),
        (f"- lastTransitionTime: null\n  message: '{TAINT}'\n  reason: Unschedulable", "", ""),
        ("0/3 nodes are available: 3 node(s) had\n    untolerated taint {gpu:\n    true}.\n\nWhat now?", "", ""),
        (f"`{TAINT}`", "", ""),
    ],
)
def test_a_message_is_found_in(text: str, pod: str, at: str) -> None:
    assert messages_in(text) == [PodMessage(pod, TAINT, at=at)]


def test_each_message_of_a_pod_is_returned_once() -> None:
    rows = [f"5m  Warning  FailedScheduling  pod/p{number % 2}  {TAINT}" for number in range(10)]

    assert [message.pod for message in messages_in("\n".join(rows))] == ["default/p0", "default/p1"]


def test_events_as_json_name_their_pods() -> None:
    event = {
        "kind": "Event",
        "reason": "FailedScheduling",
        "message": TAINT,
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "a"},
    }

    found = messages_in(json.dumps({"kind": "List", "items": [event, {"kind": "Event", "reason": "Pulled"}]}))

    assert [(message.pod, message.message) for message in found] == [("shop/a", TAINT)]


def test_messages_on_consecutive_lines_are_not_joined() -> None:
    assert [message.message for message in messages_in(f"a: {TAINT}\nb: {CPU}")] == [TAINT, CPU]


def test_a_text_without_a_message_has_none() -> None:
    assert messages_in("NAME  READY  STATUS\nweb-1  0/1  Pending\n1/2 nodes") == []


def test_escape_sequences_are_removed() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\r\n") == "red plain\n"


@pytest.mark.parametrize(
    "piece",
    ["\x1b[", "> ", "0/3 nodes are available", "FailedScheduling pod/", "Name: a\n", "x 0/3 nodes are available\n", " ", "\x1b]", "1/"],
)
def test_hostile_texts_are_read_in_linear_time(piece: str) -> None:
    # Quadratic time would take minutes.
    assert len(messages_in(piece * (LONGEST // len(piece)))) <= MOST_MESSAGES


def test_events_that_are_nested_too_deep_are_read_as_text() -> None:
    assert messages_in('{"items":[' + "[" * 90_000 + "]" * 90_000 + "]}") == []
