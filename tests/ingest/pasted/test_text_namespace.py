"""What a text names without a namespace is in that of its heading, or of the command before its table."""

from __future__ import annotations

import pytest

from schedviz.ingest.pasted.text_namespace import contents_of, namespace_of

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
