"""Deployments keep one ReplicaSet for each template."""

from __future__ import annotations

from typing import Any


def a_deployment(replicas: int, image: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": image}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": spec}


def _replicas(do: Any) -> list[int]:
    return sorted(found.spec.replicas for found in do.simulation.cluster.store.of_kind("ReplicaSet").values())


def test_a_new_template_gets_a_new_set_and_an_old_one_its_old_set(session: Any) -> None:
    do = session()
    do("helper", name="deployments")
    do("helper", name="replicaSets")
    do("create", object=a_deployment(3, "one"))
    assert (_replicas(do), len(do.names("Pod"))) == ([3], 3)
    first = set(do.names("ReplicaSet"))
    do("update", object=a_deployment(2, "two"))
    assert (_replicas(do), len(do.names("Pod"))) == ([0, 2], 2)
    do("update", object=a_deployment(1, "one"))
    assert (_replicas(do), len(do.names("Pod"))) == ([0, 1], 1)
    assert first < set(do.names("ReplicaSet"))
    do("delete", kind="Deployment", name="web")
    assert (do.names("ReplicaSet"), do.names("Pod")) == ([], [])


def test_a_deleted_replica_set_is_created_again(session: Any) -> None:
    do = session()
    do("helper", name="deployments")
    do("create", object=a_deployment(1, "one"))
    [name] = do.names("ReplicaSet")
    do("delete", kind="ReplicaSet", name=name)
    assert do.names("ReplicaSet") == [name]


def test_the_scheduler_does_not_watch_them(session: Any) -> None:
    do = session()
    do("create", object=a_deployment(1, "one"))
    assert do.simulation.cluster.watches.last_id == 0
    assert do.simulation.scheduler.state.informers.list("Deployment") == []
