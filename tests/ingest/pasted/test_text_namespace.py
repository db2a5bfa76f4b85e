"""What a text names without a namespace is in that of its heading, or of the command before its table."""

from __future__ import annotations

import pytest

from schedviz.ingest.pasted.text_namespace import contents_of, namespace_of
from schedviz.kube.text_facts import PodFact

TABLE = "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Pending   0          5m\n\n"
EVENT = "  Warning  FailedScheduling  1m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"


def test_the_heading_of_a_report_names_the_namespace_of_its_pods_and_claims() -> None:
    claims = "NAME   STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE\ndata   Pending                                      fast           5m\n"
    found = contents_of(f"Report of the deployment\nNamespace: shop\n---\n{TABLE}{claims}\nEvents:\n{EVENT}")
    assert [message.pod for message in found.messages] == ["shop/web-0"]
    assert [claim.key for claim in found.storage.claims] == ["shop/data"]


def test_the_command_before_a_table_names_its_namespace() -> None:
    for command in ("kubectl get pods -n shop", "$ kubectl -n shop get po -o wide", "oc get pods --namespace=shop"):
        assert namespace_of(f"{command}\n\n{TABLE}") == "shop"


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        f"Namespace: shop\n{TABLE}Namespace: other\n{TABLE}",
        f"kubectl get pods -n shop\n{TABLE}kubectl get pods -n other\n{TABLE}",
        f"Namespace: shop\nNAMESPACE   {TABLE}",
        f"Namespace: shop\n{TABLE}\nError scheduling default/web-0\n",
        f"{TABLE}Name:       db-0\nNamespace:  shop\n",
        f"I ran kubectl get pods -n shop\n{TABLE}",
    ],
)
def test_a_text_has_no_namespace_unless_all_its_pods_share_it(text: str) -> None:
    assert namespace_of(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "[root@n ~]# kubectl get pod -n shop -o wide\nweb-1   0/1   NodeAffinity   0   4h25m   <none>   node-5   <none>   <none>\n",
        "$ k get events -n shop\nLAST SEEN   TYPE      REASON         OBJECT           MESSAGE\n9m          Warning   FailedCreate   replicaset/web   no\n",
        "$ kubectl describe notebooks nb -n shop\n...\nEvents:\n",
        "13m   Normal   Scheduled   pod/web-1   Successfully assigned shop/web-1 to node-a\n",
    ],
)
def test_a_table_of_events_or_of_rows_alone_has_the_namespace_of_its_command_or_of_its_assigned_pod(text: str) -> None:
    assert namespace_of(text) == "shop"


def test_a_pod_of_a_table_without_namespaces_that_was_assigned_is_not_pending() -> None:
    text = (
        "14m   Warning   FailedScheduling   pod/web-1   0/2 nodes are available: 2 Insufficient cpu.\n"
        "13m   Normal    Scheduled          pod/web-1   Successfully assigned shop/web-1 to node-a\n"
    )
    found = contents_of(text)
    assert {message.pod for message in found.messages} == {fact.pod for fact in found.facts if isinstance(fact, PodFact)} == {"shop/web-1"}
