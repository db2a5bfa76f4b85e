"""What a copied text says is in the namespace that the text names."""

from __future__ import annotations

from schedviz.ingest.pasted.contents import contents_of
from schedviz.kube.text_facts import PodFact

TABLE = "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Pending   0          5m\n\n"
EVENT = "  Warning  FailedScheduling  1m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"


def test_the_heading_of_a_report_names_the_namespace_of_its_pods_and_claims() -> None:
    claims = "NAME   STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE\ndata   Pending                                      fast           5m\n"
    found = contents_of(f"Report of the deployment\nNamespace: shop\n---\n{TABLE}{claims}\nEvents:\n{EVENT}")
    assert [message.pod for message in found.messages] == ["shop/web-0"]
    assert [claim.key for claim in found.storage.claims] == ["shop/data"]


def test_a_pod_of_a_table_without_namespaces_that_was_assigned_is_not_pending() -> None:
    text = (
        "14m   Warning   FailedScheduling   pod/web-1   0/2 nodes are available: 2 Insufficient cpu.\n"
        "13m   Normal    Scheduled          pod/web-1   Successfully assigned shop/web-1 to node-a\n"
    )
    found = contents_of(text)
    assert {message.pod for message in found.messages} == {fact.pod for fact in found.facts if isinstance(fact, PodFact)} == {"shop/web-1"}
