"""The nodes that can serve a pod's claims, and what is assumed, written and waited for."""

import msgspec
import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import PRE_BIND_WAIT_KEY
from schedviz.engine.framework.plugins.volumebinding.state import STATE_KEY
from schedviz.engine.framework.status import StatusError

NAME = "VolumeBinding"
NO_VOLUME = (NAME, "UnschedulableAndUnresolvable", ("node(s) didn't find available persistent volumes to bind",))
CONFLICT = (NAME, "UnschedulableAndUnresolvable", ("node(s) had volume node affinity conflict",))
NO_SPACE = (NAME, "UnschedulableAndUnresolvable", ("node(s) did not have enough free storage",))
ZONE = "topology.kubernetes.io/zone"


def _zone(*zones):
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}]}}


def _pre_filter(world, pod):
    world.update()
    outcome = world.framework().run_pre_filter_plugins(CycleState(), pod)
    return next(answer for answer in outcome.plugin_results if answer.plugin == NAME)


def _reserved(world, framework, pod, node):
    """The state of a pod for which volumes were found and assumed on a node."""
    _, outcome, state = world.filter(framework, pod)
    assert node in [outcome.rows.names[row] for row in outcome.feasible]
    run = framework.run_reserve_plugins_reserve(state, pod, node)
    assert run.status.is_success, run.status
    return state


def _to_bind(state):
    volumes = state.read(STATE_KEY).pod_volumes
    return {binding.claim.name: binding.volume.name for binding in volumes.static_bindings}


# PreFilter


def test_a_pod_without_claims_is_skipped(world):
    assert _pre_filter(world, world.pod("p")).status.is_skip


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"status": {"phase": "Lost"}, "volume": "v"}, 'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
        ({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}}, 'persistentvolumeclaim "c" is being deleted'),
        ({"storage_class": "imm"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storage_class": "unknown"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storage_class": "wait", "volume": "v", "annotations": {}}, "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_unusable_claims_are_named(world, storage, claim, message):
    storage.storage_class("imm", waits=False)
    storage.storage_class("wait")
    storage.claim("c", **claim)

    status = _pre_filter(world, storage.pod("p", "c")).status

    assert (status.code.value, status.reasons) == ("UnschedulableAndUnresolvable", (message,))


def test_an_ephemeral_claim_must_exist_and_belong_to_the_pod(world, storage):
    pod = world.pod("p", volumes=[{"name": "v", "ephemeral": {}}])
    missing = _pre_filter(world, pod).status
    storage.claim("p-v")
    foreign = _pre_filter(world, pod).status
    storage.claim(
        "p-v", metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod.uid, "controller": True}]}
    )
    owned = _pre_filter(world, pod).status

    assert missing.reasons == ('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"',)
    assert foreign.reasons == ("PVC default/p-v was not created for pod default/p (pod is not owner)",)
    assert owned.reasons == ("pod has unbound immediate PersistentVolumeClaims",)


def test_a_pod_fits_only_on_the_nodes_of_all_its_local_volumes(world, storage):
    storage.volume("v1", on=["a", "b"])
    storage.volume("v2", on=["b", "c"])
    storage.volume("everywhere")
    for number in ("1", "2"):
        storage.claim(f"c{number}", volume=f"v{number}")
    storage.claim("c3", volume="everywhere")
    storage.claim("c4", volume="gone")

    assert _pre_filter(world, storage.pod("p", "c1", "c2", "c3")).node_names == ("b",)
    assert _pre_filter(world, storage.pod("q", "c3")).node_names is None
    assert _pre_filter(world, storage.pod("r", "c1", "c4")).node_names is None


# Filter


def test_bound_volumes_must_be_accessible_from_the_node(world, storage):
    world.node("a", labels={ZONE: "z1"})
    world.node("b", labels={ZONE: "z2"})
    storage.volume("v", nodeAffinity=_zone("z2"))
    storage.claim("c", volume="v")

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"a": CONFLICT}


def test_a_pod_whose_volume_is_missing_fits_on_no_node(world, storage):
    world.node("a", labels={ZONE: "z1"})
    storage.volume("v", nodeAffinity=_zone("z2"))
    storage.claim("c", volume="v")
    storage.claim("lost", volume="gone")
    framework = world.framework()
    reason = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    # VolumeZone reads the volume too, and rejects the pod before Filter.
    config = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "VolumeZone"}]}}}]}
    alone = world.framework(config)

    assert framework.run_pre_filter_plugins(CycleState(), storage.pod("p", "lost")).status.reasons == ('persistentvolume "gone" not found',)
    assert world.rejections(alone, storage.pod("q", "lost", "c"))["a"][2] == (reason,)
    assert world.rejections(alone, storage.pod("r", "c", "lost"))["a"][2] == ("node(s) had volume node affinity conflict",)


def test_a_volume_that_was_migrated_counts_by_its_drivers_labels(world, storage):
    for name in ("old", "new", "other"):
        world.node(name, labels={ZONE: "z1", **({"topology.ebs.csi.aws.com/zone": "z1"} if name == "new" else {})})
    storage.volume("v", nodeAffinity=_zone("z1"), awsElasticBlockStore={"volumeID": "vol-1"})
    storage.claim("c", volume="v")
    for name in ("new", "other"):
        storage.csi_node(name, migrated="kubernetes.io/aws-ebs")

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"other": CONFLICT}


def test_a_migrated_volume_that_its_driver_does_not_know_is_an_error(world, storage):
    world.node("a")
    storage.volume("v", awsElasticBlockStore={"volumeID": "aws://zone/disk"})
    storage.claim("c", volume="v")
    storage.csi_node("a", migrated="kubernetes.io/aws-ebs")
    _, outcome, _ = world.filter(world.framework(), storage.pod("p", "c"))

    assert outcome.error is not None
    assert outcome.error.message == (
        'running "VolumeBinding" filter plugin: could not translate pv: failed to translate Kubernetes ID to EBS Volume ID '
        "Invalid format for AWS volume (aws://zone/disk)"
    )


def test_each_claim_takes_the_smallest_volume_that_fits(world, storage):
    storage.storage_class("wait")
    world.node("a")
    world.node("b")
    world.node("far")
    storage.volume("big", storage_class="wait", size="9Gi")
    storage.volume("local", storage_class="wait", size="5Gi", on=["a"])
    storage.volume("small", storage_class="wait", size="2Gi", on=["a", "b"])
    storage.volume("tiny", storage_class="wait", size="1Gi", on=["b"])
    storage.claim("large", storage_class="wait", size="3Gi")
    storage.claim("little", storage_class="wait", size="2Gi")
    framework = world.framework()

    assert world.rejections(framework, storage.pod("p", "large", "little")) == {"far": NO_VOLUME}
    assert _to_bind(_reserved(world, framework, storage.pod("q", "large", "little"), "a")) == {"little": "small", "large": "local"}
    assert _to_bind(_reserved(world, world.framework(), storage.pod("r", "large", "little"), "b")) == {"little": "small", "large": "big"}


@pytest.mark.parametrize(
    "unfit",
    [
        {"storage_class": "other"},
        {"size": "1Gi"},
        {"accessModes": ["ReadOnlyMany"]},
        {"volumeMode": "Block"},
        {"held_by": "another"},
        {"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}},
        {"labels": {"tier": "slow"}},
    ],
)
def test_volumes_that_do_not_match_a_claim_are_skipped(world, storage, unfit):
    world.node("a")
    storage.storage_class("wait")
    storage.claim("c", storage_class="wait", size="2Gi", selector={"matchLabels": {"tier": "fast"}})
    storage.volume("v", **{"storage_class": "wait", "size": "2Gi", "labels": {"tier": "fast"}, **unfit})

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"a": NO_VOLUME}


def test_a_volume_that_is_held_for_the_claim_is_the_only_one(world, storage):
    world.node("a")
    world.node("b")
    storage.storage_class("wait")
    storage.claim("c", storage_class="wait")
    storage.volume("free", storage_class="wait")
    storage.volume("held", storage_class="wait", size="5Gi", held_by="c", claim_uid="", on=["b"])

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"a": NO_VOLUME}


def test_a_claim_that_a_pod_names_twice_takes_two_volumes(world, storage):
    world.node("a")
    world.node("b")
    storage.storage_class("wait")
    storage.claim("c", storage_class="wait")
    storage.volume("v1", storage_class="wait", on=["a"])
    storage.volume(
        "v2",
        storage_class="wait",
        nodeAffinity={"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}]}},
    )

    assert world.rejections(world.framework(), storage.pod("p", "c", "c")) == {"b": NO_VOLUME}


def test_claims_without_a_volume_are_provisioned_where_the_class_can(world, storage):
    world.node("a", labels={ZONE: "z1"})
    world.node("b", labels={ZONE: "z2"})
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}]}, {"matchLabelExpressions": []}]
    storage.storage_class("dyn", "x.example.com", allowedTopologies=topologies)
    storage.claim("c", storage_class="dyn")

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"b": NO_VOLUME}


def test_drivers_that_publish_their_capacity_must_have_published_enough(world, storage):
    for name in ("a", "b", "c", "d"):
        world.node(name, labels={"disk": name, ZONE: "z"})
    storage.storage_class("dyn", "x.example.com")
    storage.claim("claim", storage_class="dyn", size="5Gi")
    world.object(
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "x.example.com"}, "spec": {"storageCapacity": True}}
    )
    capacities = [
        ("a", {"capacity": "5Gi"}, {"disk": "a"}),
        ("b", {"capacity": "9Gi", "maximumVolumeSize": "4Gi"}, {"disk": "b"}),
        ("c", {"capacity": "1Gi", "maximumVolumeSize": "6Gi"}, {"disk": "c", ZONE: "z"}),
        ("d", {}, {"disk": "d"}),
    ]
    for name, amounts, labels in capacities:
        world.object(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"name": name, "namespace": "x"},
                "storageClassName": "dyn",
                "nodeTopology": {"matchLabels": labels},
                **amounts,
            }
        )

    assert world.rejections(world.framework(), storage.pod("p", "claim")) == {"b": NO_SPACE, "d": NO_SPACE}


def test_a_claim_that_is_being_provisioned_stays_on_its_node(world, storage):
    world.node("a")
    world.node("b")
    storage.storage_class("dyn", "x.example.com")
    storage.claim("c", storage_class="dyn", annotations={"volume.kubernetes.io/selected-node": "b"})

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"a": NO_VOLUME}


def test_all_reasons_of_a_node_are_reported(world, storage):
    world.node("a", labels={ZONE: "z1"})
    storage.storage_class("wait")
    storage.volume("v", nodeAffinity=_zone("z2"))
    storage.claim("bound", volume="v")
    storage.claim("unbound", storage_class="wait")

    assert world.rejections(world.framework(), storage.pod("p", "unbound", "bound"))["a"][2] == (*CONFLICT[2], *NO_VOLUME[2])


def test_a_missing_class_is_an_error(world, storage):
    world.node("a")
    storage.storage_class("dyn", "x.example.com")
    storage.claim("c", storage_class="dyn")
    framework = world.framework()
    pod = storage.pod("p", "c")
    world.update()
    state = CycleState()
    framework.run_pre_filter_plugins(state, pod)
    del world.objects.by_key["StorageClass", "", "dyn"]

    outcome = framework.filter_rows(state, pod, world.snapshot.rows(), 10)

    assert outcome.error is not None
    assert outcome.error.message == 'running "VolumeBinding" filter plugin: failed to find storage class "dyn"'


# Reserve and Unreserve


def test_a_volume_of_one_pod_is_not_given_to_the_next(world, storage):
    world.node("a")
    storage.storage_class("wait")
    storage.volume("v", storage_class="wait")
    for name in ("c1", "c2"):
        storage.claim(name, storage_class="wait")
    framework = world.framework()
    first, second = storage.pod("p", "c1"), storage.pod("q", "c2")

    state = _reserved(world, framework, first, "a")
    while_assumed = world.rejections(framework, second)
    framework.run_reserve_plugins_unreserve(state, first, "a")

    assert while_assumed == {"a": NO_VOLUME}
    assert world.rejections(framework, second) == {}


def test_other_profiles_do_not_see_assumed_volumes(world, storage):
    world.node("a")
    storage.storage_class("wait")
    storage.volume("v", storage_class="wait")
    for name in ("c1", "c2"):
        storage.claim(name, storage_class="wait")
    _reserved(world, world.framework(), storage.pod("p", "c1"), "a")

    assert world.rejections(world.framework(), storage.pod("q", "c2")) == {}


def test_an_informer_event_replaces_an_assumed_volume(world, storage):
    world.node("a")
    storage.storage_class("wait")
    storage.volume("v", storage_class="wait")
    for name in ("c1", "c2"):
        storage.claim(name, storage_class="wait")
    framework = world.framework()
    _reserved(world, framework, storage.pod("p", "c1"), "a")
    storage.volume("v", storage_class="wait", size="2Gi")

    assert world.rejections(framework, storage.pod("q", "c2")) == {}


def test_a_volume_that_changed_since_it_was_found_cannot_be_assumed(world, storage):
    world.node("a")
    storage.storage_class("wait")
    storage.volume("v", storage_class="wait")
    storage.claim("c", storage_class="wait")
    framework, pod = world.framework(), storage.pod("p", "c")
    _, _, state = world.filter(framework, pod)
    storage.volume("v", storage_class="wait", size="2Gi")

    run = framework.run_reserve_plugins_reserve(state, pod, "a")

    assert run.status.message == ('running Reserve plugin "VolumeBinding": v1.PersistentVolume "v" is out of sync (stored: 4, assume: 2)')


def test_the_state_survives_a_checkpoint_at_any_point(world, storage):
    world.node("a")
    storage.storage_class("dyn", "x.example.com")
    storage.volume("v", storage_class="dyn", size="1Gi")
    for name in ("c1", "c2"):
        storage.claim(name, storage_class="dyn")
    framework, pod = world.framework(), storage.pod("p", "c1", "c2")
    _, _, state = world.filter(framework, pod)

    def copied(before):
        return CycleState.from_state(msgspec.msgpack.decode(msgspec.msgpack.encode(before.to_state())))

    state = copied(state)
    framework.run_reserve_plugins_reserve(state, pod, "a")
    state = copied(state)

    assert _to_bind(state) == {"c1": "v"}
    assert [claim.name for claim in state.read(STATE_KEY).pod_volumes.dynamic_provisions] == ["c2"]


# PreBind


def _ready_to_bind(world, storage):
    """A pod with one claim for a volume and one to be provisioned, assumed on node `a`."""
    world.node("a")
    storage.storage_class("dyn", "x.example.com")
    storage.volume("v", storage_class="dyn")
    storage.claim("static", storage_class="dyn")
    storage.claim("dynamic", storage_class="dyn", size="2Gi")
    framework, pod = world.framework(), storage.pod("p", "static", "dynamic")
    return framework, pod.assigned("a"), _reserved(world, framework, pod, "a")


def _controller_is_done(storage):
    storage.volume("v", storage_class="dyn", held_by="static")
    storage.volume("made", storage_class="dyn", held_by="dynamic")
    done = {"pv.kubernetes.io/bind-completed": "yes"}
    storage.claim("static", storage_class="dyn", volume="v", annotations=done)
    storage.claim("dynamic", storage_class="dyn", volume="made", annotations={**done, "volume.kubernetes.io/selected-node": "a"})


def test_prebind_writes_and_waits_for_the_controller(world, storage):
    framework, pod, state = _ready_to_bind(world, storage)

    first = framework.run_pre_bind_plugins(state, pod, "a")
    volume, claim = world.api.updated
    _controller_is_done(storage)
    second = framework.run_pre_bind_plugins(state, pod, "a", first.plugin_results)

    assert first.status.is_wait
    assert (volume.spec.claim_ref.name, volume.metadata.annotations) == ("static", {"pv.kubernetes.io/bound-by-controller": "yes"})
    assert (claim.name, claim.metadata.annotations) == ("dynamic", {"volume.kubernetes.io/selected-node": "a"})
    assert second.status.is_success
    assert len(world.api.updated) == 2


def test_pre_bind_fails_when_its_timeout_has_ended(world, storage):
    framework, pod, state = _ready_to_bind(world, storage)
    framework.run_pre_bind_plugins(state, pod, "a")

    world.now = state.read(PRE_BIND_WAIT_KEY).deadline
    run = framework.run_pre_bind_plugins(state, pod, "a")

    assert world.now == 600 * 1_000_000_000
    assert run.status.message == 'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition'


def _forget(world, kind, namespace, name):
    del world.objects.by_key[kind, namespace, name]


@pytest.mark.parametrize(
    ("happens", "message"),
    [
        (lambda world, _storage: _forget(world, "Pod", "default", "p"), 'pod does not exist any more: pod "p" not found'),
        (lambda world, _storage: _forget(world, "Node", "", "a"), 'failed to get node "a": node "a" not found'),
        (
            lambda _world, storage: storage.volume("v", storage_class="dyn", held_by="static", nodeAffinity=_zone("z9")),
            'pv "v" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
        ),
        (lambda _world, storage: storage.volume("v", storage_class="dyn"), 'ClaimRef got reset for pv "v"'),
        (
            lambda _world, storage: (_controller_is_done(storage), storage.claim("dynamic", storage_class="dyn")),
            'selectedNode annotation reset for PVC "dynamic"',
        ),
        (
            lambda _world, storage: (
                _controller_is_done(storage),
                storage.claim("dynamic", storage_class="dyn", annotations={"volume.kubernetes.io/selected-node": "b"}),
            ),
            'provisioning failed for PVC "dynamic"',
        ),
    ],
)
def test_prebind_returns_why_binding_will_not_finish(world, storage, happens, message):
    framework, pod, state = _ready_to_bind(world, storage)
    framework.run_pre_bind_plugins(state, pod, "a")
    happens(world, storage)

    run = framework.run_pre_bind_plugins(state, pod, "a")

    assert run.status.message == f'running PreBind plugin "VolumeBinding": binding volumes: {message}'


def test_a_refused_write_fails_prebind_and_gives_the_volume_back(world, storage):
    framework, pod, state = _ready_to_bind(world, storage)
    world.api.error = StatusError('persistentvolumes "v" not found')

    run = framework.run_pre_bind_plugins(state, pod, "a")
    storage.claim("another", storage_class="dyn")

    assert run.status.message == 'running PreBind plugin "VolumeBinding": persistentvolumes "v" not found'
    assert _to_bind(_reserved(world, framework, storage.pod("q", "another"), "a")) == {"another": "v"}


def test_bound_claims_need_no_prebind(world, storage):
    world.node("a")
    storage.volume("v")
    storage.claim("c", volume="v")
    framework, pod = world.framework(), storage.pod("p", "c")
    state = _reserved(world, framework, pod, "a")

    assert framework.run_pre_bind_plugins(state, pod, "a").status.is_success
    assert world.api.updated == []
