"""Claims are created from templates, and are freed when their pods have ended."""

from __future__ import annotations

from typing import Any

from schedviz.kube.devices import ResourceClaim

API = "resource.k8s.io/v1"
REQUESTS = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
TEMPLATE = {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": {"name": "gpu"}, "spec": {"spec": REQUESTS}}


def with_template(made: dict[str, Any]) -> dict[str, Any]:
    made["spec"]["resourceClaims"] = [{"name": "device", "resourceClaimTemplateName": "gpu"}]
    return made


def allocated_for(*pods: str, **metadata: Any) -> dict[str, Any]:
    users = [{"resource": "pods", "name": name, "uid": f"default/{name}"} for name in pods]
    status = {"allocation": {"devices": {}}, "reservedFor": users}
    meta = {"name": "c", "finalizers": ["resource.kubernetes.io/delete-protection"], **metadata}
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": meta, "spec": REQUESTS, "status": status}


def test_a_pod_gets_its_own_claim(session: Any, pod: Any) -> None:
    do = session()
    do("helper", name="resourceClaims")
    do("create", object=with_template(pod("p")))
    assert do.get("Pod", "default/p").status.resource_claim_statuses == ()

    do("create", object=TEMPLATE)

    claim = do.get("ResourceClaim", "default/p-device-1")
    assert isinstance(claim, ResourceClaim)
    assert claim.spec.devices.requests[0].name == "r"
    assert [(owner.kind, owner.name, owner.controller) for owner in claim.metadata.owner_references] == [("Pod", "p", True)]
    status = do.get("Pod", "default/p").status.resource_claim_statuses[0]
    assert (status.name, status.resource_claim_name) == ("device", "p-device-1")


def test_a_generated_claim_is_deleted_with_its_pod(session: Any, pod: Any) -> None:
    do = session()
    do("helper", name="resourceClaims")
    do("create", object=TEMPLATE)
    do("create", object=with_template(pod("p")))

    do("delete", kind="Pod", name="p")

    assert do.get("ResourceClaim", "default/p-device-1") is None


def test_a_claim_is_deallocated_after_its_last_user(session: Any, pod: Any) -> None:
    def using(name: str) -> dict[str, Any]:
        made = pod(name, node_name="node1")
        made["spec"]["resourceClaims"] = [{"name": "device", "resourceClaimName": "c"}]
        return made

    do = session(using("a"), using("b"))
    do("helper", name="resourceClaims")
    do("create", object=allocated_for("a", "b"))

    do("delete", kind="Pod", name="a")
    claim = do.get("ResourceClaim", "default/c")
    assert [user.name for user in claim.status.reserved_for] == ["b"]
    assert claim.status.allocation is not None

    do("update", object=using("b") | {"status": {"phase": "Succeeded"}})
    claim = do.get("ResourceClaim", "default/c")
    assert (claim.status.reserved_for, claim.status.allocation, claim.metadata.finalizers) == ((), None, ())
