"""ReplicaSets keep the wanted number of pods."""

from __future__ import annotations

from typing import Any

from schedviz.engine import PODS_PER_SYNC, Simulation, SimulationSettings
from schedviz.trace.commands import convert_command
from schedviz.trace.controllers import ControllerSettings


def a_set(replicas: int) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}], "priorityClassName": ""},
    }
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": spec}


def test_deleted_pods_are_replaced_under_new_names(session: Any) -> None:
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


def test_the_pods_of_a_set_share_large_parts(session: Any) -> None:
    do = session()
    do("helper", name="replicaSets")
    large = a_set(2)
    large["spec"]["template"]["spec"] |= {
        "containers": [{"name": "c", "ports": [{"hostPort": port} for port in range(1, 500)], "resources": {"limits": {"cpu": "1"}}}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": f"c{number}"}} for number in range(500)],
    }
    do("create", object=large)
    one, two = (do.get("Pod", f"default/web-{number}") for number in (1, 2))

    assert one.spec.containers is two.spec.containers
    assert one.spec.volumes is two.spec.volumes
    infos = [do.simulation.scheduler.state.pod_info(pod) for pod in (one, two)]
    assert infos[0].host_ports is infos[1].host_ports
    assert infos[0].claims is infos[1].claims
    assert (len(infos[0].host_ports), len(infos[0].claims)) == (499, 500)


def test_scaling_down_takes_pods_that_are_not_bound_first(session: Any) -> None:
    do = session()
    do("helper", name="replicaSets")
    do("create", object=a_set(3))
    do("step", count=2)
    do("update", object=a_set(2))
    assert [bool(do.get("Pod", f"default/{name}").spec.node_name) for name in do.names("Pod")] == [True, True]
    do("delete", kind="ReplicaSet", name="web")
    assert do.names("Pod") == []


def test_a_helper_that_is_enabled_later_catches_up(session: Any) -> None:
    do = session()
    do("create", object=a_set(1))
    assert do.names("Pod") == []
    do("helper", name="replicaSets")
    assert do.names("Pod") == ["web-1"]


def test_a_replica_set_creates_500_pods_in_a_unit_and_continues_from_a_checkpoint() -> None:
    simulation = Simulation(SimulationSettings(helpers=ControllerSettings(replica_sets=True), pods_per_sync=PODS_PER_SYNC))
    events = []
    for members, counts in (
        ({"op": "create", "object": a_set(1201)}, [500, 1000, 1201]),
        ({"op": "update", "object": a_set(1)}, [701, 201, 1]),
        ({"op": "update", "object": a_set(501)}, [501]),
        ({"op": "delete", "kind": "ReplicaSet", "name": "web"}, [1, 0]),
    ):
        simulation.start(convert_command(members))
        seen = []
        outcome = None
        while outcome is None:
            outcome = simulation.work(stop=lambda: True)
            seen.append(simulation.cluster.store.count("Pod"))
            events += simulation.drain_events()
            simulation = Simulation.restore(simulation.checkpoint())
        assert seen == counts
        assert (outcome.error, outcome.result, outcome.stopped) == ("", "", "")
    assert [event.event for event in events] == list(range(1, len(events) + 1))


def test_a_session_of_an_older_version_creates_all_pods_at_once() -> None:
    simulation = Simulation(SimulationSettings(helpers=ControllerSettings(replica_sets=True)))
    simulation.start(convert_command({"op": "create", "object": a_set(1201)}))

    assert simulation.work(stop=lambda: True) is not None
    assert simulation.cluster.store.count("Pod") == 1201
