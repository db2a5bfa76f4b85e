"""Random commands on a whole engine: invariants hold after each, folded events equal its view, their tally its levels, and a checkpoint
restores all of it.

`SCHEDVIZ_TEST_OPERATIONS=20000` sets the number of commands; CONTRIBUTING.md says when to use it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from schedviz.engine import Simulation
from schedviz.engine.invariants import validate_state
from schedviz.trace.fold import Fold
from schedviz.trace.policies import Policies
from schedviz.trace.simulation_settings import GracefulVictims
from schedviz.trace.tally import levels_of, tally
from tests.engine import clusters

pytestmark = pytest.mark.slow

claim, do_unchecked, four_nodes, node, pod = clusters.claim, clusters.do_unchecked, clusters.four_nodes, clusters.node, clusters.pod

OPERATIONS = int(os.environ.get("SCHEDVIZ_TEST_OPERATIONS", "400"))
STEPS = 40

NODES = [f"node{number}" for number in range(1, 6)]
PODS = [f"p{number}" for number in range(1, 9)]
KINDS = ["Pod", "Node", "*"]
DROPS = [None, None, None, None, None, "watch", "handlers"]


def scripted(*rules: dict[str, Any]) -> dict[str, Any]:
    plugins = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    return {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": list(rules)}}]}]}


#: The default; every pod waits at Permit; a plugin rejects one pod at Reserve, or a node at Filter, or waits in PreBind; others fail.
CONFIGS = [
    None,
    scripted({"point": "permit", "code": "Wait", "delaySeconds": 20}),
    scripted({"point": "reserve", "code": "Unschedulable", "pods": ["default/p3"]}),
    scripted({"point": "filter", "code": "UnschedulableAndUnresolvable", "nodes": ["node2"]}, {"point": "preBind", "delaySeconds": 3}),
    scripted({"point": "reserve", "code": "Error", "times": 2}, {"point": "preBind", "code": "Error", "pods": ["default/p4"]}),
    scripted(
        {"point": "preFilter", "code": "Error", "pods": ["default/p5"]},
        {"point": "filter", "code": "Error", "nodes": ["node3"], "times": 3},
    ),
    scripted({"point": "postFilter", "code": "Error", "times": 2}, {"point": "score", "code": "Error", "pods": ["default/p6"]}),
    {"percentageOfNodesToScore": 50},
]
#: The default; with an extender; with the policies of v1.14 and v1.18.
SETTINGS: list[dict[str, Any]] = [
    {},
    {
        "fake_extenders": [
            {"name": "e1", "filterVerb": True, "prioritizeVerb": True, "filter": {"denyNodes": ["node1"]}, "prioritize": {"node3": 5}}
        ]
    },
    {"assumed_pod_ttl_seconds": 10.0},
    {"policies": Policies(cache="v1.14", priorities="v1.14", preemption="v1.18")},
]
#: v1.36: the default; with held asynchronous tasks; with other feature gates; with an extender.
SETTINGS_V1_36: list[dict[str, Any]] = [
    {},
    {"hold_preemption": True, "records_preemptions": True},
    {"hold_preemption": True, "hold_dispatch": True, "records_preemptions": True, "feature_gates": {"SchedulerAsyncAPICalls": True}},
    {"feature_gates": {"SchedulerAsyncPreemption": False, "SchedulerPopFromBackoffQ": False}},
    SETTINGS[1],
]
#: Without default spread constraints, with which no pod has a signature.
BATCHING = {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}]}]}
HELPERS = ["kubelet", "nodeLifecycle", "podGc", "deployments", "replicaSets", "pvBinder", "pdbStatus", "resourceClaims", "deviceDriver"]
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
SPREAD = [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}},
]

indexes = st.integers(0, 7)
looks = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["100m", "1", "3", "9"]),
        "priority": st.sampled_from([0, 0, 100]),
        "affinity": st.sampled_from([None, None, APART]),
        "topologySpreadConstraints": st.sampled_from([None, None, SPREAD]),
        "port": st.sampled_from([0, 0, 0, 80]),
        "gated": st.sampled_from([False, False, False, True]),
        "claim": st.sampled_from(["", "", "", "c1", "c2"]),
    }
)


def pod_of(name: str, look: dict[str, Any], *, node_name: str = "") -> dict[str, Any]:
    spec = {key: look[key] for key in ("priority", "affinity", "topologySpreadConstraints") if look[key] is not None}
    if look["gated"] and not node_name:
        spec["schedulingGates"] = [{"name": "wait"}]
    made: dict[str, Any] = pod(name, cpu=look["cpu"], node_name=node_name, **spec)
    made["metadata"]["labels"] = {"app": "web"}
    if look["claim"]:
        made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": look["claim"]}}]
    if look["port"]:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": look["port"]}]
    return made


def node_of(name: str, cpu: str, zone: str, *, cordoned: bool, tainted: bool) -> dict[str, Any]:
    taints = {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]} if tainted else {}
    made: dict[str, Any] = node(name, cpu=cpu, **({"unschedulable": True} if cordoned else {}), **taints)
    made["metadata"]["labels"] = {"kubernetes.io/hostname": name, "zone": zone}
    return made


def replicas(kind: str, name: str, count: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod("of-it")["spec"]}
    spec = {"replicas": count, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


#: Other objects. Names are fixed, so that objects that are created are also updated and deleted.
OTHERS: list[dict[str, Any]] = [
    claim("c1", "late"),
    claim("c2", "made"),
    {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv1"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late"},
    },
    {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1},
    },
    {"kind": "Service", "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}},
    replicas("ReplicaSet", "set", 2),
    replicas("Deployment", "many", 2),
]
CLASSES = [
    {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
    for name, provisioner in (("late", "kubernetes.io/no-provisioner"), ("made", "x.example.com"))
]


class EngineMachine(RuleBasedStateMachine):
    #: The number of commands and of restored checkpoints, of all examples together.
    carried_out = 0

    @initialize(
        config=st.sampled_from(CONFIGS),
        settings=st.sampled_from(SETTINGS),
        graceful=st.sampled_from([False, True, "bound"]),
        first_of_tied=st.booleans(),
    )
    def begin(self, *, config: dict[str, Any] | None, settings: dict[str, Any], graceful: GracefulVictims, first_of_tied: bool) -> None:
        self.begin_with(config=config, graceful_victims=graceful, first_of_tied=first_of_tied, **settings)

    def begin_with(self, **settings: Any) -> None:
        imported = [pod("p1"), pod("p2", node_name="node1"), *CLASSES]
        self.simulation: Simulation = four_nodes(*imported, **settings)
        view = self.simulation.view()
        self.fold = Fold(view)
        self.levels = levels_of(view.queue, view.api.objects)
        #: Whether the handlers saw all pods and all nodes that the informers have (`validate_cache`).
        self.pods_seen = self.nodes_seen = True

    def do(self, op: str, **members: Any) -> None:
        """Run a command, then check the invariants and the folded events."""
        members_set = {name: member for name, member in members.items() if member is not None}
        if members_set.get("drop") == "handlers":
            kinds = (members_set.get("kind"), members_set.get("object", {}).get("kind"))
            self.pods_seen = self.pods_seen and "Pod" not in kinds
            self.nodes_seen = self.nodes_seen and "Node" not in kinds
        self.do_unchecked(op, **members_set)

    def do_unchecked(self, op: str, **members: Any) -> None:
        do_unchecked(self.simulation, op, **members)
        type(self).carried_out += 1
        state = self.simulation.scheduler.state
        validate_state(state.cache, state.snapshot, state.queue, pods_seen=self.pods_seen, nodes_seen=self.nodes_seen)
        events = self.simulation.drain_events()
        self.fold.apply_all(events)
        view = self.simulation.view()
        assert self.fold.to_view() == view
        self.levels = tally(events, self.levels).levels
        assert self.levels == levels_of(view.queue, view.api.objects)
        self.simulation.drain_cycles()

    # Objects.

    @rule(name=st.sampled_from(PODS), look=looks, node_name=st.sampled_from(["", "", "", *NODES]), drop=st.sampled_from(DROPS))
    def create_pod(self, name: str, look: dict[str, Any], node_name: str, drop: str | None) -> None:
        self.do("create", object=pod_of(name, look, node_name=node_name), drop=drop)

    @rule(name=st.sampled_from(PODS), look=looks, phase=st.sampled_from(["", "", "Running", "Succeeded"]), drop=st.sampled_from(DROPS))
    def update_pod(self, name: str, look: dict[str, Any], phase: str, drop: str | None) -> None:
        there = self.simulation.cluster.find("Pod", f"default/{name}")
        changed = pod_of(name, look, node_name=there.spec.node_name if there is not None else "")
        if phase:
            changed["status"] = {"phase": phase}
        self.do("update", object=changed, drop=drop)

    @rule(name=st.sampled_from(PODS), graceful=st.booleans(), drop=st.sampled_from(DROPS))
    def delete_pod(self, name: str, *, graceful: bool, drop: str | None) -> None:
        self.do("delete", kind="Pod", name=name, graceful=graceful, drop=drop)

    @rule(
        op=st.sampled_from(["create", "update"]),
        name=st.sampled_from(NODES),
        cpu=st.sampled_from(["1", "4", "8"]),
        zone=st.sampled_from(["a", "b"]),
        cordoned=st.booleans(),
        tainted=st.booleans(),
        drop=st.sampled_from(DROPS),
    )
    def write_node(self, *, op: str, name: str, cpu: str, zone: str, cordoned: bool, tainted: bool, drop: str | None) -> None:
        self.do(op, object=node_of(name, cpu, zone, cordoned=cordoned, tainted=tainted), drop=drop)

    @rule(name=st.sampled_from(NODES), drop=st.sampled_from(DROPS))
    def delete_node(self, name: str, drop: str | None) -> None:
        self.do("delete", kind="Node", name=name, drop=drop)

    @rule(op=st.sampled_from(["create", "update"]), other=st.sampled_from(OTHERS), drop=st.sampled_from(DROPS))
    def write_other(self, op: str, other: dict[str, Any], drop: str | None) -> None:
        self.do(op, object=other, drop=drop)

    @rule(other=st.sampled_from(OTHERS), drop=st.sampled_from(DROPS))
    def delete_other(self, other: dict[str, Any], drop: str | None) -> None:
        self.do("delete", kind=other["kind"], name=other["metadata"]["name"], drop=drop)

    # Cycles and bindings.

    @rule(op=st.sampled_from(["schedule", "cycle", "cycle", "snapshot"]))
    def schedule(self, op: str) -> None:
        self.do(op)

    @rule(unit=st.sampled_from(["mutation", "stage", "stage", "cycle"]), count=st.integers(1, 4))
    def step(self, unit: str, count: int) -> None:
        self.do("step", unit=unit, count=count)

    @rule(most=st.integers(1, 5))
    def run_cycles(self, most: int) -> None:
        self.do("run", max=most)

    @rule(index=indexes, op=st.sampled_from(["bind", "bind_fail"]), after_write=st.booleans())
    def bind(self, index: int, op: str, *, after_write: bool) -> None:
        members: dict[str, Any] = {"after_write": after_write} if op == "bind_fail" else {}
        self.do(op, pod=self._one_of(index, self.simulation.scheduler.held_bindings), **_camel(members))

    @rule(index=indexes, node_name=st.sampled_from([None, None, *NODES]))
    def confirm(self, index: int, node_name: str | None) -> None:
        self.do("confirm", pod=self._one_of(index, self.simulation.scheduler.bindings), node=node_name)

    @rule(index=indexes, action=st.sampled_from(["allow", "reject"]))
    def permit(self, index: int, action: str) -> None:
        pod_key = self._one_of(index, self.simulation.scheduler.bindings)
        self.do("permit", pod="default/p1" if pod_key == "*" else pod_key, action=action)

    def _one_of(self, index: int, bindings: Any) -> str:
        """The pod of one of these binding cycles, or `*`."""
        keys = [binding.pod for binding in bindings]
        return keys[index % len(keys)] if keys and index else "*"

    # Time, faults and restarts.

    @rule(seconds=st.sampled_from([0.5, 5, 15, 70, 400]))
    def advance(self, seconds: float) -> None:
        self.do("advance", seconds=seconds)

    @rule()
    def advance_to_the_next_timer(self) -> None:
        self.do("advance", to="next")

    @rule(kind=st.sampled_from(KINDS), fault=st.sampled_from([{"drop": 2}, {"disconnect": True}, {"reconnect": True}, {"reconnect": True}]))
    def break_watch(self, kind: str, fault: dict[str, Any]) -> None:
        self.do("watch", kind=kind, **fault)

    @rule(kind=st.sampled_from(KINDS), seconds=st.sampled_from([0, 3]))
    def slow_down(self, kind: str, seconds: float) -> None:
        self.do("latency", kind=kind, seconds=seconds)

    @rule(name=st.sampled_from(HELPERS), on=st.booleans())
    def switch_helper(self, name: str, *, on: bool) -> None:
        self.do("helper", name=name, on=on)

    @rule(name=st.sampled_from(NODES))
    def drain(self, name: str) -> None:
        self.do("drain", node=name)

    @rule(name=st.sampled_from(NODES), on=st.booleans())
    def cordon(self, name: str, *, on: bool) -> None:
        self.do("cordon", node=name, on=on)

    @rule(name=st.sampled_from(PODS))
    def evict(self, name: str) -> None:
        self.do("evict", pod=f"default/{name}")

    @rule(op=st.sampled_from(["restart", "restart", "reset"]))
    def begin_again(self, op: str) -> None:
        self.pods_seen = self.nodes_seen = True
        self.do(op)

    @rule(config=st.sampled_from(CONFIGS), restart=st.booleans())
    def configure(self, config: dict[str, Any] | None, *, restart: bool) -> None:
        self.pods_seen, self.nodes_seen = self.pods_seen or restart, self.nodes_seen or restart
        self.do_unchecked("configure", config=config, restart=restart)

    @rule()
    def save_and_restore(self) -> None:
        restored = Simulation.restore(self.simulation.checkpoint())
        assert restored.state_hash() == self.simulation.state_hash()
        assert restored.view() == self.simulation.view()
        self.simulation = restored
        type(self).carried_out += 1


class EngineMachineV136(EngineMachine):
    @initialize(
        config=st.sampled_from([*CONFIGS, BATCHING, BATCHING]),
        settings=st.sampled_from(SETTINGS_V1_36),
        graceful=st.sampled_from([False, True, "bound"]),
        ties=st.sampled_from([{}, {"first_of_tied_v1_36": True}, {"random_of_tied": True}]),
    )
    def begin(self, *, config: dict[str, Any] | None, settings: dict[str, Any], graceful: GracefulVictims, ties: dict[str, bool]) -> None:
        self.begin_with(release="v1.36", config=config, graceful_victims=graceful, **ties, **settings)

    @rule(deliver=st.sampled_from(["during", "after"]), fail=st.sampled_from(["", "", "the server is too busy"]))
    def preempt(self, deliver: str, fail: str) -> None:
        self.do("preempt", deliver=deliver, fail=fail)

    @rule()
    def dispatch(self) -> None:
        self.do("dispatch")

    @rule(name=st.sampled_from(PODS))
    def delete_a_pod_during_a_cycle(self, name: str) -> None:
        self.do("schedule", during=[{"op": "delete", "kind": "Pod", "name": name}])


def _camel(members: dict[str, Any]) -> dict[str, Any]:
    return {"afterWrite" if name == "after_write" else name: member for name, member in members.items()}


#: Hypothesis ends some examples early.
EXAMPLES = max(1, round(OPERATIONS / STEPS * 1.2))
_profile = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck))
EngineMachine.TestCase.settings = EngineMachineV136.TestCase.settings = _profile
TestEngine = EngineMachine.TestCase
TestEngineV136 = EngineMachineV136.TestCase


def teardown_module() -> None:
    if OPERATIONS != 400:
        sys.stderr.write(f"\n{EngineMachine.carried_out} operations, {EngineMachineV136.carried_out} of v1.36\n")
