"""What a text names without a namespace is in that of its heading, or of the command before its table."""

from __future__ import annotations

import pytest

from schedviz.ingest.pasted.text_namespace import namespace_of

TABLE = "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Pending   0          5m\n\n"


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
