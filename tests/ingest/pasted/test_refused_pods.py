"""Pods that the API server refuses, in the words of controllers, clients, conditions and consoles."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message
from tests.ingest.pasted.found_messages import found_messages

QUOTA = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"


@pytest.mark.parametrize(
    ("text", "pod"),
    [
        (f'Error from server (Forbidden): pods "web" is forbidden: {QUOTA}', "default/web"),
        (f'Error creating deployer pod: pods "web-1-deploy" is forbidden: {QUOTA}', "default/web-1-deploy"),
        (f'Warning  FailedCreate  9s  daemonset-controller  Error creating: pods "logs-gc9m4" is\nforbidden: {QUOTA}', "default/logs"),
        (
            f"    - message: 'pods \"api-79888fd8c8-\" is forbidden:\n        {QUOTA}'\n      reason: FailedCreate\n",
            "default/api-79888fd8c8",
        ),
        (
            'pods "web" is forbidden:\n  exceeded quota: q,\n  requested: pods=1,\n  used: pods=2,\n  limited: pods=2\n',
            "default/web",
        ),
        (f'8:06 AM | web | Warning | Failed Create | Error creating: pods "web-" is forbidden: {QUOTA}\n8:07 AM | next', "default/web"),
    ],
)
def test_the_refusal_is_found_with_its_pod(text: str, pod: str) -> None:
    [said] = found_messages(text)
    assert said.pod == pod
    [clause] = parse_message(said.message).clauses
    assert clause.headline == "no pod is created: the quota `q` allows pods=2; pods=2 is in use, and the pod requests pods=1"


def test_refusals_of_one_owner_for_the_same_reason_are_one_message() -> None:
    rows = "".join(
        f'2m  Warning  FailedCreate  replicaset/web-5f  Error creating: pods "web-5f-{name}" is forbidden: {QUOTA}\n'
        for name in ("dr8p8", "zmf4h")
    )
    assert len(found_messages(rows)) == 1


def test_a_request_that_a_user_may_not_make_is_no_refused_pod() -> None:
    assert found_messages('Error from server (Forbidden): pods "web" is forbidden: User "dev" cannot get resource "pods"') == []


@pytest.mark.parametrize(
    ("message", "headline"),
    [
        (
            "unable to validate against any security context constraint: []",
            "the pod's service account may use no SecurityContextConstraints (SCC)",
        ),
        (
            "unable to validate against any security context constraint: [provider restricted: .runAsUser: Invalid value: 7]",
            "none of the SecurityContextConstraints (SCC) that the pod's service account may use allows the pod's template",
        ),
        (
            "PodSecurityPolicy: unable to admit pod: [hostPath is not allowed]",
            "none of the PodSecurityPolicies that apply to the pod allows its template ([hostPath is not allowed])",
        ),
        (
            "no providers available to validate pod request",
            "neither the controller nor the pod's service account may use a PodSecurityPolicy",
        ),
        (
            "failed quota: q: must specify limits.cpu for: a,b; limits.memory for: a",
            "the quota `q` requires each container to specify limits.cpu, limits.memory",
        ),
        ("it is Monday", "it is Monday"),
    ],
)
def test_the_refusal_is_explained(message: str, headline: str) -> None:
    [clause] = parse_message(f'Error creating: pods "web-5f-x" is forbidden: {message}').clauses
    assert clause.headline == f"no pod is created: {headline}"


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("1 Insufficient pods.20 times in the last 4 minutes", "0/1 nodes are available: 1 Insufficient pods."),
        ("1 Insufficient pods. 3 times in the last 2 hours", "0/1 nodes are available: 1 Insufficient pods."),
    ],
)
def test_the_repetitions_that_a_console_counts_are_not_part_of_the_message(end: str, expected: str) -> None:
    assert [said.message for said in found_messages(f"web | Pod | Warning | 0/1 nodes are available: {end}")] == [expected]


def test_an_amount_before_such_repetitions_stays() -> None:
    [said] = found_messages(
        'pods "web" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=016 times in the last 9 minutes'
    )
    assert said.message.endswith("limited: pods=0")


@pytest.mark.parametrize(
    ("text", "owner", "headline"),
    [
        (
            'create Pod db-2 in StatefulSet db failed error: admission webhook "auth" denied the request: no such toleration\n',
            "default/db",
            'no pod is created: the admission webhook "auth" denies the request (no such toleration)',
        ),
        (
            "create Pod db-2 in StatefulSet db failed error: The POST operation against Pod could not be completed at this time, try again.\n",
            "default/db",
            "no pod is created: the API server did not accept `db-2`, usually because a pod of this name still exists",
        ),
        (
            "Error creating: Timeout: request did not complete within requested timeout\n",
            "",
            "no pod is created: the API server did not complete the request in time",
        ),
        (
            "Error creating: the server was unable to return a response in the time allotted, but may still be processing the request (post pods)\n",
            "",
            "no pod is created: the API server did not complete the request in time",
        ),
    ],
)
def test_pods_of_a_stateful_set_and_requests_that_time_out_are_explained(text: str, owner: str, headline: str) -> None:
    created = "  Normal   SuccessfulCreate  25m  daemonset-controller  Created pod: flannel-ggq5h\n"
    [said] = found_messages(f"{created}  Warning  FailedCreate  9m (x3 over 9m)  statefulset-controller  {text}")
    assert said.pod == owner
    assert parse_message(said.message).clauses[0].headline == headline
