"""A pasted text is explained clause by clause, without a session."""

from __future__ import annotations

import gzip
import lzma

import msgspec
import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from schedviz.explain.card.formats import CardFormat
from schedviz.ingest.pasted.pasted_text import MAX_MESSAGES, MAX_TEXT_LENGTH
from schedviz.sessions.analysis import pasted_text_job
from schedviz.sessions.analysis.pasted_text_job import PastedText, PastedTextResult, explain_pasted, explain_text


def test_each_message_is_explained_with_its_pod() -> None:
    text = "5m  Warning  FailedScheduling  pod/web  0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable."

    explanation = explain_text(text).messages

    assert [(each.pod, each.at, each.message.nodes) for each in explanation] == [("default/web", "5m ago", 5)]
    assert [(clause.count, clause.plugin) for clause in explanation[0].message.clauses] == [
        (3, "NodeResourcesFit"),
        (2, "NodeUnschedulable"),
    ]


def test_a_text_without_a_scheduler_message_yields_no_explanations() -> None:
    assert explain_text("hello").messages == ()


def test_a_card_of_a_text_has_the_reasons_and_remedies() -> None:
    text = "Name: web\nNamespace: shop\n  0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable."

    card = explain_pasted(PastedText(text, form="markdown")).card

    assert card is not None
    lines = card.decode().splitlines()
    assert lines[0] == "### Why `shop/web` is pending"
    assert "None of the 5 nodes can run the pod: 3 do not have enough free CPU and 2 are cordoned." in lines
    [first] = [line for line in lines if line.startswith("**Next step:** ")]
    assert "`kubectl get nodes | grep SchedulingDisabled`" in first
    assert sum("uncordon those whose maintenance is finished" in line for line in lines) == 1
    assert lines[-1].startswith("_pasted text, 20")


def test_a_card_names_the_pod_of_the_request() -> None:
    card = explain_pasted(PastedText("0/1 nodes are available: 1 Insufficient cpu.", pod="shop/web", form="html")).card

    assert card is not None
    assert "Why shop/web is pending" in card.decode()


EVENTS = "".join(
    f"0s  Warning  FailedScheduling  pod/{name}  0/20 nodes are available: {free} node(s) didn't match pod topology spread constraints, "
    f"{20 - free} node(s) didn't match Pod's node affinity/selector.\n"
    for name, free in (("testapp-5f8b56c8fc-6xcjp", 9), ("testapp-5f8b56c8fc-w9kgn", 8), ("other", 9), ("alone", 1))
)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_card_about_pods_with_the_same_reasons_names_all_of_them(form: CardFormat) -> None:
    card = explain_pasted(PastedText(EVENTS, pod="default/testapp-5f8b56c8fc-6xcjp", form=form)).card

    assert card is not None
    text = card.decode()
    assert "3 pods" in text
    # Of its ReplicaSet, and one with the same text.
    assert all(name in text for name in ("testapp-5f8b56c8fc-6xcjp", "testapp-5f8b56c8fc-w9kgn", "other"))
    assert "alone" not in text
    assert "The pod's" not in text
    if form == "markdown":
        assert text.startswith("### Why 3 pods are pending\n\n`testapp-5f8b56c8fc-6xcjp`, ")


def test_an_image_about_several_pods_is_drawn() -> None:
    card = explain_pasted(PastedText(EVENTS, form="png")).card
    assert card is not None
    assert card.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("message", "standing"),
    [
        ("Pod was rejected: Node didn't have enough resource: cpu, requested: 150, used: 11388, capacity: 11500", "rejected"),
        ("The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi.", "evicted"),
    ],
)
def test_a_card_about_a_failed_pod_does_not_call_it_pending(message: str, standing: str) -> None:
    reason = "OutOfcpu" if standing == "rejected" else "Evicted"
    text = f"Name: web\nNamespace: shop\nNode: n1/10.0.0.1\nStatus: Failed\nReason: {reason}\nMessage: {message}\n"
    card = explain_pasted(PastedText(text, form="markdown")).card
    assert card is not None
    assert card.decode().startswith(f"### Why `shop/web` is {standing}\n")


def test_a_text_without_a_message_has_no_card() -> None:
    assert explain_pasted(PastedText("hello", form="markdown")).card is None


def test_a_hint_for_a_pod_table_names_the_pending_pods_and_what_to_send_instead() -> None:
    table = "NAME    READY   STATUS    RESTARTS   AGE\nweb-1   0/1     Pending   0          5m\nweb-2   1/1     Running   0          5m\n"

    hint = explain_pasted(PastedText(table)).hint

    assert hint.startswith("kubectl's table output does not show")
    assert "Pending: web-1. The reason is in the events of `kubectl describe pod web-1`." in hint


def test_a_table_without_its_header_is_recognized() -> None:
    assert "Pending: web-1." in explain_pasted(PastedText("web-1   0/1   Pending   0   5m\nweb-2   1/1   Running   0   5m\n")).hint
    nodes = "node-1   Ready   <none>   5d   v1.27.3\nnode-2   Ready,SchedulingDisabled   worker   5d   v1.27.3\n"
    assert "Of its 2 nodes, 1 takes no new pods: node-2 (Ready,SchedulingDisabled)." in explain_pasted(PastedText(nodes)).hint


def test_a_text_with_a_message_needs_no_hint() -> None:
    assert explain_pasted(PastedText("0/1 nodes are available: 1 Insufficient cpu.")).hint == ""


DESCRIBED = """Name:             web
Namespace:        shop
Events:
  Warning  FailedScheduling   22m   default-scheduler   0/8 nodes are available: 8 Insufficient cpu.
  Warning  FailedScheduling   7m12s (x4 over 22m)   default-scheduler   0/9 nodes are available: 3 Insufficient cpu, 6 node(s) were unschedulable.
  {event}
"""
AUTOSCALERS = {
    "1 node group is at its maximum size": (
        "Normal   NotTriggerScaleUp  2m3s (x121 over 22m)  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached"
    ),
    "NodePool `a` has the taint `x=y`": (
        'Warning  FailedScheduling  2m3s  karpenter  Failed to schedule pod, incompatible with nodepool "a", did not tolerate x=y'
    ),
}


@pytest.mark.parametrize(("sentence", "event"), AUTOSCALERS.items())
def test_messages_of_an_autoscaler_do_not_hide_the_schedulers_reasons(sentence: str, event: str) -> None:
    for newest_last in (True, False):
        lines = DESCRIBED.format(event=event).splitlines()
        text = "\n".join(lines if newest_last else [*lines[:3], *reversed(lines[3:])])

        messages = explain_text(text).messages
        card = explain_pasted(PastedText(text, form="markdown")).card

        assert [bool(each.writer) for each in messages] == [False, False, True]
        assert (messages[-1].pod, messages[-1].at) == ("shop/web", "2m3s ago")
        assert card is not None
        order = [card.decode().find(part) for part in (sentence, "node(s) were unschedulable", "Insufficient cpu")]
        assert -1 not in order
        assert order == sorted(order)
        assert f"{messages[-1].writer}: " in card.decode()


def test_a_card_starts_with_the_nodepool_at_its_limits_and_quotes_karpenter() -> None:
    said = (
        'Failed to schedule pod, incompatible with nodepool "gpu", did not tolerate dedicated=gpu:NoSchedule; all available instance types '
        'exceed limits for nodepool: "arm"; incompatible with nodepool "amd", did not tolerate dedicated=amd:NoSchedule'
    )
    card = explain_pasted(PastedText(DESCRIBED.format(event=f"Warning  FailedScheduling  2m3s  karpenter  {said}"), form="markdown")).card
    assert card is not None
    order = [card.decode().find(part) for part in ("the limits of NodePool", "Other NodePools do not match", "Insufficient cpu")]
    assert -1 not in order
    assert order == sorted(order)
    assert f"karpenter: {said}" in card.decode()


WITH_MESSAGE = "Name: web\nNamespace: shop\n  0/5 nodes are available: 5 Insufficient cpu."


@pytest.mark.parametrize("packed", [WITH_MESSAGE.encode(), gzip.compress(WITH_MESSAGE.encode()), lzma.compress(WITH_MESSAGE.encode())])
def test_the_text_of_a_file_is_returned(packed: bytes) -> None:
    assert explain_pasted(PastedText(file=packed)).text == WITH_MESSAGE


def test_a_card_of_a_file_has_its_reasons() -> None:
    card = explain_pasted(PastedText(file=gzip.compress(WITH_MESSAGE.encode()), form="markdown")).card

    assert card is not None
    assert card.startswith(b"### Why `shop/web` is pending")


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (gzip.compress(b" " * (MAX_TEXT_LENGTH + 1)), "more than 2,097,152 bytes"),
        (b"\x28\xb5\x2f\xfd....", "compressed with zstd"),
        (gzip.compress(WITH_MESSAGE.encode())[:-12], "the gzip file is truncated"),
    ],
)
def test_an_unreadable_file_gets_a_hint_with_the_reason(packed: bytes, why: str) -> None:
    assert why in explain_pasted(PastedText(file=packed)).hint


def test_an_explanation_at_the_message_limit_is_marked_as_incomplete() -> None:
    row = "5m  Warning  FailedScheduling  pod/p{}  0/5 nodes are available: 5 Insufficient cpu.\n"

    assert explain_pasted(PastedText("".join(map(row.format, range(MAX_MESSAGES))))).more
    assert not explain_pasted(PastedText(row)).more


def test_messages_that_name_no_pod_are_about_the_pod_of_the_request() -> None:
    text = "0/5 nodes are available: 5 Insufficient {}."
    found = explain_pasted(PastedText(texts=(text.format("cpu"), text.format("memory")), pod="shop/web"))

    assert [message.pod for message in found.messages] == ["shop/web"] * 2
    assert [group.pods for group in found.groups] == [("shop/web",)]


def markdown(text: str, pod: str = "") -> str:
    card = explain_pasted(PastedText(text, pod=pod, form="markdown")).card
    assert card is not None
    return card.decode()


def test_a_card_of_a_text_about_several_pods_describes_the_requested_pod() -> None:
    text = (
        "Name: web\nNamespace: shop\nNominatedNodeName:  node-b\nEvents:\n"
        "  Warning  FailedScheduling  2m  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n"
        "Name: db\nNamespace: shop\nEvents:\n"
        "  Warning  FailedScheduling  2m  default-scheduler  0/3 nodes are available: 3 Insufficient memory.\n"
    )
    assert markdown(text, "shop/db").startswith("### Why `shop/db` is pending")
    assert "The pod is nominated to node-b" in markdown(text, "shop/web")


def test_a_card_about_the_owner_of_pods_does_not_call_it_pending() -> None:
    refused = 'Error creating: pods "a-1" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=4, limited: cpu=4'
    lines = markdown(f"Name: a\nNamespace: shop\nEvents:\n  Warning  FailedCreate  2m  job-controller  {refused}\n").splitlines()
    assert lines[:3] == [
        "### Why `shop/a` is lacking pods",
        "",
        "**No pod is created: the quota `q` allows cpu=4; cpu=4 is in use, and the pod requests cpu=1**",
    ]


def test_a_card_about_a_failed_binding_reports_only_that_failure() -> None:
    failed = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    lines = markdown(f"Name: a\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  2m  default-scheduler  {failed}\n").splitlines()
    assert lines[:3] == [
        "### Why `shop/a` is pending",
        "",
        "**A node was chosen, but the pod's volumes were not bound in time**",
    ]


def test_a_text_that_takes_too_long_gets_a_hint_and_logs_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[bytes] = []

    def too_long(_: PastedText) -> PastedTextResult:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(pasted_text_job, "explain_pasted", too_long)
    monkeypatch.setattr(pasted_text_job, "is_abandoned", lambda _: False)
    monkeypatch.setattr(pasted_text_job, "store_result", lambda _, result: stored.append(result))

    assert pasted_text_job.run(b'"a text"', "key")
    assert msgspec.json.decode(stored[0], type=PastedTextResult).hint.startswith("The text takes too long to explain.")
