"""ReplicaSets keep as many pods as they want."""

from __future__ import annotations

from typing import Any


def a_set(replicas: int) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}], "priorityClassName": ""},
    }
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": spec}


def test_deleted_pods_come_back_under_new_names(session: Any) -> None:
    do = session()
    do("helper", name="replicaSets")
    do("create", object=a_set(2))
    assert do.names("Pod") == ["web-1", "web-2"]
    made = do.get("Pod", "default/web-1")
    assert (made.metadata.labels, made.spec.scheduler_name) == ({"app": "web"}, "default-scheduler")
    assert made.spec.containers[0].resources.requests["cpu"].milli_value == 1000
    do("run")
    do("delete", kind="Pod", name="web-1")
    assert do.names("Pod") == ["web-2", "web-3"]
    do("run")
    assert len(do.simulation.observed_state()["cache"]["podStates"]) == 2


def test_scaling_down_takes_pods_that_are_not_bound_first(session: Any) -> None:
    do = session()
    do("helper", name="replicaSets")
    do("create", object=a_set(3))
    do("step", count=2)
    do("update", object=a_set(2))
    assert [bool(do.get("Pod", f"default/{name}").spec.node_name) for name in do.names("Pod")] == [True, True]
    do("delete", kind="ReplicaSet", name="web")
    assert do.names("Pod") == []


def test_a_helper_that_is_switched_on_later_catches_up(session: Any) -> None:
    do = session()
    do("create", object=a_set(1))
    assert do.names("Pod") == []
    do("helper", name="replicaSets")
    assert do.names("Pod") == ["web-1"]
