"""Events about claims and pods that are not about failed scheduling are kept, the latest of each reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedviz.ingest import file_contents, item_collector
from schedviz.ingest.load import Import, load
from tests.ingest.sources import source


def event(about: str, reason: str, message: str, *, kind: str = "Warning", at: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    of, namespace, name = about.split("/")
    return {
        "kind": "Event",
        "type": kind,
        "reason": reason,
        "message": message,
        "involvedObject": {"kind": of, "namespace": namespace, "name": name},
        "lastTimestamp": at,
    }


def read(*items: dict[str, Any]) -> Import:
    listed = [{"kind": "Node", "metadata": {"name": "a"}}, *items]
    return load([source(json.dumps({"kind": "List", "items": listed}).encode(), "dump")])


def test_warnings_and_reasons_to_wait_are_kept() -> None:
    result = read(
        event("PersistentVolumeClaim/shop/data", "WaitForFirstConsumer", "waiting for first consumer", kind="Normal"),
        event("PersistentVolumeClaim/shop/logs", "ProvisioningFailed", "no such class"),
        event("Pod/shop/web", "Scheduled", "assigned", kind="Normal"),
    )

    assert [(event.about, event.reason, event.message) for event in result.events] == [
        ("PersistentVolumeClaim shop/data", "WaitForFirstConsumer", "waiting for first consumer"),
        ("PersistentVolumeClaim shop/logs", "ProvisioningFailed", "no such class"),
    ]
    assert [(left.kind, left.count) for left in result.report.dropped] == [("Event", 1)]


def test_the_latest_event_of_each_reason_is_kept() -> None:
    old = event("PersistentVolumeClaim/shop/data", "ProvisioningFailed", "first", at="2026-01-01T00:00:00Z")
    new = event("PersistentVolumeClaim/shop/data", "ProvisioningFailed", "second", at="2026-01-02T00:00:00Z")

    assert [event.message for event in read(new, old).events] == ["second"]


def test_a_failed_scheduling_message_is_not_counted_as_another_event() -> None:
    result = read(event("Pod/shop/web", "FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu."))

    assert result.events == ()
    assert [message.pod for message in result.messages] == ["shop/web"]


def test_failed_scheduling_of_another_object_is_an_event_about_it() -> None:
    result = read(event("PodGroup/shop/training", "FailedScheduling", "0/1 nodes are available"))

    assert [(event.about, event.reason) for event in result.events] == [("PodGroup shop/training", "FailedScheduling")]
    assert result.messages == ()
    assert result.report.dropped == ()


def test_skipped_events_are_counted_by_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MAX_EVENTS", 1)
    monkeypatch.setattr(item_collector, "MAX_EVENTS", 1)
    result = read(
        event("Pod/shop/web", "Scheduled", "assigned", kind="Normal"),
        event("PersistentVolumeClaim/shop/data", "ProvisioningFailed", "no such class"),
        event("PersistentVolumeClaim/shop/logs", "ProvisioningFailed", "no such class"),
    )

    assert [(left.reason, left.count) for left in result.report.dropped] == [
        ("it is not a warning, and does not say why a pod or another object waits", 1),
        ("there are more than 1 Events about objects in the file; the first ones were kept", 1),
    ]


def test_an_event_of_karpenter_is_not_a_message_of_the_pods_scheduler() -> None:
    said = "Failed to schedule pod, no instance type has enough resources"
    result = read(
        event("Pod/shop/web", "FailedScheduling", said),
        event("Pod/shop/web", "Nominated", "Pod should schedule on: nodeclaim/a", kind="Normal"),
        event("Pod/shop/api", "FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu."),
    )

    assert [message.pod for message in result.messages] == ["shop/api"]
    assert [(each.about, each.reason) for each in result.events] == [("Pod shop/web", "FailedScheduling"), ("Pod shop/web", "Nominated")]
