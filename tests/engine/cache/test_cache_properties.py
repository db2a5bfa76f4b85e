"""Random calls of the cache: invariants hold, folded events equal its view, and a checkpoint restores all of it."""

import contextlib

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from schedviz.engine.cache import Cache, CacheError, SchedulerExitError, Snapshot
from schedviz.engine.cache.cache_state import CacheState
from schedviz.engine.cache.snapshot import SnapshotState
from schedviz.engine.framework.object_table import ObjectTable, ObjectTableState
from schedviz.engine.framework.types import Generations, PodInfo
from schedviz.engine.invariants import validate_cache, validate_snapshot
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod
from schedviz.trace.fold import Fold
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import View

SECOND = 1_000_000_000
NODE_NAMES = ["n0", "n1", "n2", "n3"]


def node_of(name: str, zone: str, cpu: int, images: list[tuple[str, int]], *, cordoned: bool, taints: list[str]) -> Node:
    node = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": {"topology.kubernetes.io/zone": zone} if zone else {}},
            "spec": {"unschedulable": cordoned, "taints": [{"key": key, "value": "x", "effect": "NoSchedule"} for key in taints]},
            "status": {
                "allocatable": {"cpu": str(cpu), "memory": "8Gi", "pods": "110", "example.com/gpu": "2"},
                "images": [{"names": [image], "sizeBytes": size} for image, size in images],
            },
        }
    )
    assert isinstance(node, Node)
    return node


nodes = st.builds(
    node_of,
    st.sampled_from(NODE_NAMES),
    st.sampled_from(["", "a", "b"]),
    st.integers(1, 3),
    st.lists(st.tuples(st.sampled_from(["reg/a:1", "reg/b:2"]), st.sampled_from([100, 200])), max_size=2, unique_by=lambda image: image[0]),
    cordoned=st.booleans(),
    taints=st.lists(st.sampled_from(["gpu", "batch"]), max_size=2, unique=True),
)

AFFINITIES = [
    None,
    {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
    {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]}},
]

specs = st.builds(
    lambda cpu, port, claim, gpu, affinity: (
        {
            "containers": [
                {
                    "name": "c",
                    "resources": {"requests": ({"cpu": f"{cpu}m"} if cpu else {}) | ({"example.com/gpu": "1"} if gpu else {})},
                    "ports": [{"containerPort": 80, "hostPort": port, "protocol": "TCP"}] if port else [],
                }
            ],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}] if claim else [],
        }
        | ({"affinity": affinity} if affinity else {})
    ),
    st.sampled_from([0, 100, 250]),
    st.sampled_from([0, 0, 80, 443]),
    st.sampled_from(["", "", "c0", "c1"]),
    st.booleans(),
    st.sampled_from(AFFINITIES),
)


def pod_of(uid: str, name: str, node: str, spec: dict) -> Pod:
    pod = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": uid},
            "spec": spec | {"nodeName": node},
        }
    )
    assert isinstance(pod, Pod)
    return pod


class CacheMachine(RuleBasedStateMachine):
    pods = Bundle("pods")

    def __init__(self) -> None:
        super().__init__()
        self.recorder = Recorder()
        self.cache = Cache(self.recorder, Generations(), ttl_seconds=30)
        self.snapshot = Snapshot()
        self.fold = Fold(View())
        self.nodes: dict[str, Node] = {}
        self.now = 0
        self.made = 0
        #: An update was missed, so sums may differ from the pods' requests, as upstream.
        self.missed_an_update = False

    @rule(node=nodes)
    def add_or_update_node(self, node: Node) -> None:
        old = self.nodes.get(node.name)
        if old is None:
            self.cache.add_node(node)
        else:
            self.cache.update_node(old, node)
        self.nodes[node.name] = node

    @rule(name=st.sampled_from(NODE_NAMES))
    def remove_node(self, name: str) -> None:
        node = self.nodes.pop(name, None)
        if node is not None:
            self.cache.remove_node(node)

    @rule(target=pods, node=st.sampled_from(NODE_NAMES), spec=specs, assume=st.booleans(), same_name=st.booleans())
    def pod_comes(self, *, node: str, spec: dict, assume: bool, same_name: bool) -> Pod:
        self.made += 1
        pod = pod_of(f"u{self.made}", "twin" if same_name else f"p{self.made}", node, spec)
        if assume:
            self.cache.assume_pod(PodInfo(pod))
        else:
            self.cache.add_pod(pod)
        return pod

    @rule(pod=pods)
    def binding_finishes(self, pod: Pod) -> None:
        self.cache.finish_binding(pod, self.now)

    @rule(target=pods, pod=consumes(pods), node=st.sampled_from(NODE_NAMES), elsewhere=st.booleans())
    def confirm(self, *, pod: Pod, node: str, elsewhere: bool) -> Pod:
        confirmed = pod_of(pod.uid, pod.name, node, as_spec(pod)) if elsewhere else pod
        try:
            self.cache.add_pod(confirmed)
        except CacheError:
            return pod
        return confirmed

    @rule(pod=pods)
    def forget(self, pod: Pod) -> None:
        with contextlib.suppress(CacheError):
            self.cache.forget_pod(pod)

    @rule(target=pods, pod=consumes(pods), spec=specs, missed=st.sampled_from([None, None, None, *AFFINITIES]), another=st.booleans())
    def update(self, *, pod: Pod, spec: dict, missed: dict | None, another: bool) -> Pod:
        """`another`: the old pod's Delete and the new pod's Add were missed, so the informer sees an update."""
        self.made += another
        new = pod_of(f"u{self.made}" if another else pod.uid, pod.name, pod.spec.node_name, spec)
        old = pod
        if missed is not None:
            old = pod_of(pod.uid, pod.name, pod.spec.node_name, spec | {"affinity": missed})
            self.missed_an_update = True
        try:
            self.cache.update_pod(old, new)
        except (CacheError, SchedulerExitError):
            return pod
        return new

    @rule(pod=pods)
    def remove(self, pod: Pod) -> None:
        with contextlib.suppress(CacheError, SchedulerExitError):
            self.cache.remove_pod(pod)

    @rule(seconds=st.integers(1, 40))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds * SECOND
        self.cache.cleanup_assumed_pods(self.now)

    @rule()
    def update_snapshot(self) -> None:
        update = self.cache.update_snapshot(self.snapshot)

        assert update.error == ""
        if update.update_all_lists:
            assert [info.name for info in self.snapshot.node_info_list] == self.cache.node_tree.list()
        assert self.snapshot.to_view(self.cache.node_generations()).stale == {}

    @rule()
    def save_and_restore(self) -> None:
        table = ObjectTable()
        saved = (
            self.cache.to_state(table),
            self.snapshot.to_state({info.name: info for info in self.cache.nodes}, table),
            table.to_state(),
        )
        data = msgspec.msgpack.encode(saved, enc_hook=codec.enc_hook)
        cache, snapshot, objects = msgspec.msgpack.decode(
            data, type=tuple[CacheState, SnapshotState, ObjectTableState], dec_hook=codec.dec_hook
        )
        table = ObjectTable(state=objects)
        self.cache = Cache.from_state(cache, self.recorder, table)
        cached = {info.name: info for info in self.cache.nodes}
        self.snapshot = Snapshot.from_state(snapshot, cached, table, self.cache.generations)

        again = ObjectTable()
        assert (self.cache.to_state(again), self.snapshot.to_state({info.name: info for info in self.cache.nodes}, again)) == (
            cache,
            snapshot,
        )

    @invariant()
    def events_add_up_to_the_view(self) -> None:
        self.fold.apply_all(self.recorder.drain())
        view = self.fold.to_view()

        assert view.cache == self.cache.to_view()
        assert view.snapshot == self.snapshot.to_view(self.cache.node_generations())

    @invariant()
    def state_is_valid(self) -> None:
        validate_cache(self.cache, pods_seen=not self.missed_an_update)
        validate_snapshot(self.cache, self.snapshot)


def as_spec(pod: Pod) -> dict:
    return codec.to_dict(pod)["spec"]


CacheMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, suppress_health_check=list(HealthCheck))
TestCache = CacheMachine.TestCase
