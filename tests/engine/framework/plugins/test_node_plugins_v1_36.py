"""v1.36: NodeUnschedulable, NodeName, TaintToleration, NodePorts, SchedulingGates, NodeAffinity, ImageLocality, NodeDeclaredFeatures."""

import pytest

from schedviz.engine.features import V1_36_GATES
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint, QueueingHintError

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.QUEUE_SKIP
HARD = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
BEARS = {"key": "gpu", "operator": "Exists"}
CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}

NODE_ADD = ClusterEvent(GVK.NODE, ActionType.ADD)
NODE_TAINT = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT)
NODE_LABEL = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_LABEL)
NODE_FEATURE = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_DECLARED_FEATURE)
POD_DELETE = ClusterEvent(GVK.POD, ActionType.DELETE)
POD_UPDATE = ClusterEvent(GVK.POD, ActionType.UPDATE)
POD_TOLERATION = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_TOLERATION)
POD_GATES = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


@pytest.mark.parametrize(("cordoned", "hint"), [(False, QUEUE), (True, SKIP)])
def test_a_new_node_queues_pods_that_a_cordon_rejected_unless_it_is_cordoned_too(world, cordoned, hint):
    node = world.node("n", unschedulable=cordoned)

    assert world.hint("NodeUnschedulable", NODE_ADD, world.pod("p"), new=node) is hint


@pytest.mark.parametrize(("before", "after", "hint"), [(True, False, QUEUE), (True, True, SKIP), (False, False, SKIP), (False, True, SKIP)])
def test_only_uncordoning_a_node_queues_pods(world, before, after, hint):
    old, new = world.node("n", unschedulable=before), world.node("n", unschedulable=after)

    assert world.hint("NodeUnschedulable", NODE_TAINT, world.pod("p"), old=old, new=new) is hint


def test_a_pod_is_queued_once_it_tolerates_cordons(world):
    pod = world.pod("p")

    assert world.hint("NodeUnschedulable", POD_TOLERATION, pod, old=pod, new=world.pod("p", tolerations=[CORDON])) is QUEUE
    assert world.hint("NodeUnschedulable", POD_TOLERATION, pod, old=pod, new=world.pod("p", tolerations=[BEARS])) is SKIP
    assert world.hint("NodeUnschedulable", POD_TOLERATION, pod, old=pod, new=world.pod("q", tolerations=[CORDON])) is SKIP


def test_every_new_node_queues_pods_that_node_name_rejected(world):
    assert world.hint("NodeName", NODE_ADD, world.pod("p"), new=world.node("n")) is QUEUE
    assert world.hint("NodeName", NODE_LABEL, world.pod("p"), new=world.node("n")) is None


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [([HARD], [], QUEUE), ([HARD], [HARD], SKIP), ([], [], SKIP), ([], [HARD], SKIP), (None, [], QUEUE), (None, [HARD], SKIP)],
)
def test_a_node_queues_a_pod_when_its_taints_become_tolerable(world, before, after, hint):
    old = None if before is None else world.node("n", taints=before)

    assert world.hint("TaintToleration", NODE_TAINT, world.pod("p"), old=old, new=world.node("n", taints=after)) is hint


def test_a_toleration_queues_only_the_pod_that_got_it(world):
    pod = world.pod("p")

    assert world.hint("TaintToleration", POD_TOLERATION, pod, old=pod, new=world.pod("p", tolerations=[BEARS])) is QUEUE
    assert world.hint("TaintToleration", POD_TOLERATION, pod, old=pod, new=world.pod("q", tolerations=[BEARS])) is SKIP


def test_untolerated_taints_share_one_reason(world):
    world.node("a", taints=[HARD])
    world.node("b", taints=[{"key": "other", "effect": "NoExecute"}])

    rejected = world.rejections(world.framework(), world.pod("p"))

    status = ("TaintToleration", "UnschedulableAndUnresolvable", ("node(s) had untolerated taint(s)",))
    assert rejected == {"a": status, "b": status}


@pytest.mark.parametrize(
    ("operator", "value", "fits"), [("Gt", "9", True), ("Gt", "10", False), ("Lt", "11", True), ("Lt", "10", False), ("Gt", "nine", False)]
)
def test_tolerations_compare_numbers_if_the_feature_gate_is_on(world, v1_36_with_gates, operator, value, fits):
    open_world = v1_36_with_gates(TaintTolerationComparisonOperators=True)
    for each in (world, open_world):
        each.node("n", taints=[{"key": "level", "value": "10", "effect": "NoSchedule"}])
    toleration = {"key": "level", "operator": operator, "value": value}

    assert (open_world.rejections(open_world.framework(), open_world.pod("p", tolerations=[toleration])) == {}) is fits
    assert "n" in world.rejections(world.framework(), world.pod("p", tolerations=[toleration]))


def test_host_ports_of_sidecars_conflict(world):
    world.node("n")
    port = [{"containerPort": 80, "hostPort": 8080}]
    world.pod("there", on="n", initContainers=[{"name": "s", "image": "i", "restartPolicy": "Always", "ports": port}])
    world.pod("init", on="n", initContainers=[{"name": "s", "image": "i", "ports": [{"containerPort": 81, "hostPort": 8081}]}])

    taken = world.rejections(world.framework(), world.pod("p", ports=port))
    free = world.rejections(world.framework(), world.pod("q", ports=[{"containerPort": 81, "hostPort": 8081}]))

    assert taken == {"n": ("NodePorts", "Unschedulable", ("node(s) didn't have free ports for the requested pod ports",))}
    assert free == {}


@pytest.mark.parametrize(
    ("port", "place", "hint"),
    [
        (8080, {"on": "n"}, QUEUE),
        (8080, {"status": {"nominatedNodeName": "n"}}, QUEUE),
        (8080, {}, SKIP),
        (9090, {"on": "n"}, SKIP),
        (None, {"on": "n"}, SKIP),
    ],
)
def test_the_deletion_of_a_pod_frees_its_host_ports(world, port, place, hint):
    world.node("n")
    ports = [] if port is None else [{"containerPort": 80, "hostPort": port}]
    deleted = world.pod("gone", ports=ports, **place)

    assert world.hint("NodePorts", POD_DELETE, world.pod("p", ports=[{"containerPort": 80, "hostPort": 8080}]), old=deleted) is hint


def test_a_freed_host_port_on_another_ip_queues_no_pod(world):
    world.node("n")
    deleted = world.pod("gone", ports=[{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1"}], on="n")

    same = world.pod("p", ports=[{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.2"}])
    wild = world.pod("q", ports=[{"containerPort": 80, "hostPort": 8080}])
    assert world.hint("NodePorts", POD_DELETE, same, old=deleted) is SKIP
    assert world.hint("NodePorts", POD_DELETE, wild, old=deleted) is QUEUE


def test_a_pod_is_queued_when_its_own_gates_are_eliminated(world):
    pod = world.pod("p", schedulingGates=[{"name": "g"}])

    assert world.hint("SchedulingGates", POD_GATES, pod, old=pod, new=world.pod("p")) is QUEUE
    assert world.hint("SchedulingGates", POD_GATES, pod, old=pod, new=world.pod("q")) is SKIP
    assert world.hint("SchedulingGates", POD_TOLERATION, pod, old=pod, new=pod) is None


def required(*values, key="zone"):
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [(None, "a", QUEUE), (None, "b", SKIP), ("b", "a", QUEUE), ("a", "a", SKIP), ("a", "b", SKIP), ("b", "c", SKIP)],
)
def test_a_node_queues_a_pod_when_it_starts_to_match_its_affinity(world, before, after, hint):
    old = None if before is None else world.node("n", labels={"zone": before})

    new = world.node("n", labels={"zone": after})
    assert world.hint("NodeAffinity", NODE_LABEL, world.pod("p", affinity=required("a")), old=old, new=new) is hint
    assert world.hint("NodeAffinity", NODE_LABEL, world.pod("q", nodeSelector={"zone": "a"}), old=old, new=new) is hint


def test_a_node_that_the_profile_excludes_queues_no_pod(world):
    added = {"addedAffinity": required("a")["nodeAffinity"]}
    config = {"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": added}]}]}

    for zone, hint in (("a", QUEUE), ("b", SKIP)):
        assert world.hint("NodeAffinity", NODE_ADD, world.pod("p"), new=world.node("n", labels={"zone": zone}), config=config) is hint


def test_an_invalid_affinity_is_an_error_of_the_hint(world):
    with pytest.raises(QueueingHintError):
        world.hint("NodeAffinity", NODE_ADD, world.pod("p", affinity=required("a", key="not a label")), new=world.node("n"))


def test_an_unsupported_operator_is_refused_with_the_supported_ones(world):
    near = {"matchExpressions": [{"key": "zone", "operator": "Near"}]}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [near]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": near}],
    }
    pod, node = world.pod("p", affinity={"nodeAffinity": affinity}), world.node("n")
    world.update()
    framework = world.framework()

    status = framework.plugins.by_name["NodeAffinity"].pre_score(CycleState(), pod, world.snapshot.rows())

    message = (
        'matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )
    assert (status.code.value, status.reasons) == ("Error", (f"[0].{message}",))
    with pytest.raises(QueueingHintError) as caught:
        world.hint("NodeAffinity", NODE_ADD, pod, new=node)
    assert str(caught.value) == f"nodeSelectorTerms[0].{message}"


def test_plugins_with_nothing_to_score_skip_it(world):
    world.node("n")

    outcome = world.score(world.framework(), world.pod("p"))

    assert [plugin.name for plugin in outcome.plugins] == ["TaintToleration", "NodeResourcesFit", "DynamicResources", "ImageLocality"]


def test_plugins_with_nothing_to_filter_skip_it(world):
    world.node("n")
    pre, _, state = world.filter(world.framework(), world.pod("p"))

    assert [answer.plugin for answer in pre.plugin_results if answer.status.is_success] == ["NodeResourcesFit"]
    assert "DynamicResources" in state.skip_filter_plugins


def test_images_of_init_containers_and_volumes_count(world):
    size = 500 * 1024 * 1024
    for name, image in (("none", "x:1"), ("init", "i:1"), ("volume", "v:1")):
        world.node(name, images=[{"names": [image], "sizeBytes": size}])
    pod = world.pod("p", initContainers=[{"name": "i", "image": "i:1"}], volumes=[{"name": "v", "image": {"reference": "v:1"}}])

    scores = world.scores_of(world.framework(), pod, "ImageLocality")

    # A third of the nodes has each image; two containers set the upper threshold.
    expected = 100 * (size // 3 - 23 * 1024 * 1024) // (2000 * 1024 * 1024 - 23 * 1024 * 1024)
    assert scores == {"none": 0, "init": expected, "volume": expected}


@pytest.fixture
def feature_node(world):
    """Makes a node that declares features."""

    def make(name, *features):
        return world.object(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name},
                "spec": {},
                "status": {"allocatable": {"pods": "110"}, "declaredFeatures": list(features)},
            }
        )

    return make


NEEDS = {"hostNetwork": True, "hostUsers": False}
USER_NAMESPACES = "UserNamespacesHostNetworkSupport"


def test_a_pod_with_user_namespaces_on_the_host_network_needs_the_feature(world, feature_node):
    world.cache.add_node(feature_node("with", USER_NAMESPACES))
    world.cache.add_node(feature_node("without"))

    rejected = world.rejections(world.framework(), world.pod("p", **NEEDS))

    reasons = ("node(s) didn't match Pod's required features",)
    assert rejected == {"without": ("NodeDeclaredFeatures", "UnschedulableAndUnresolvable", reasons)}


def test_any_change_of_declared_features_queues_a_pod(world, feature_node):
    pod = world.pod("p", **NEEDS)

    assert world.hint("NodeDeclaredFeatures", NODE_ADD, pod, new=feature_node("n")) is QUEUE
    assert world.hint("NodeDeclaredFeatures", NODE_FEATURE, pod, old=feature_node("n"), new=feature_node("n", "Other")) is QUEUE
    assert world.hint("NodeDeclaredFeatures", NODE_FEATURE, pod, old=feature_node("n", "A"), new=feature_node("n", "A")) is SKIP


def test_an_update_of_a_pod_queues_it_if_it_needs_other_features(world):
    pod = world.pod("p", **NEEDS)

    assert world.hint("NodeDeclaredFeatures", POD_UPDATE, pod, old=pod, new=world.pod("p", hostNetwork=True)) is QUEUE
    assert world.hint("NodeDeclaredFeatures", POD_UPDATE, pod, old=pod, new=world.pod("p", labels={"a": "b"}, **NEEDS)) is SKIP
    assert world.hint("NodeDeclaredFeatures", POD_UPDATE, pod, old=world.pod("q"), new=world.pod("q", **NEEDS)) is SKIP


def test_without_the_feature_gate_declared_features_have_no_effect(v1_36_with_gates):
    dependents = [name for name, gate in V1_36_GATES.items() if "NodeDeclaredFeatures" in gate.depends_on]
    world = v1_36_with_gates(NodeDeclaredFeatures=False, **dict.fromkeys(dependents, False))
    world.node("n")

    assert world.rejections(world.framework(), world.pod("p", **NEEDS)) == {}
    assert world.hint("NodeDeclaredFeatures", NODE_ADD, world.pod("p", **NEEDS), new=world.node("n")) is None


def test_a_pod_without_claims_has_nothing_to_deallocate(world):
    world.node("n")
    framework = world.framework()
    pod = world.pod("p")
    _, outcome, state = world.filter(framework, pod)
    plugin = framework.plugins.by_name["DynamicResources"]

    _, status = plugin.post_filter(state, pod, outcome.node_to_status())
    _, failed = plugin.post_filter(CycleState(), pod, outcome.node_to_status())

    assert (status.code.value, status.reasons) == ("Unschedulable", ("no new claims to deallocate",))
    assert (failed.code.value, failed.reasons) == ("Error", ("not found",))
    assert plugin.pre_bind_pre_flight(state, pod, "n").is_skip


def claim(world, name, *, owner="", status=None):
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"uid-{owner}", "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "ownerReferences": owners}
    return world.object(
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}, "status": status or {}}
    )


def test_a_pod_waits_until_its_claims_exist(world):
    plugin = world.framework().plugins.by_name["DynamicResources"]
    pod = world.pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])

    missing = plugin.pre_enqueue(pod)
    claim(world, "c")

    assert (missing.code.value, missing.reasons) == ("UnschedulableAndUnresolvable", ('could not find ResourceClaim "default/c"',))
    assert plugin.pre_enqueue(pod).is_success


def test_a_claim_that_was_made_for_another_pod_is_not_used(world):
    plugin = world.framework().plugins.by_name["DynamicResources"]
    template = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "c"}]}
    claim(world, "c", owner="other")

    waiting = plugin.pre_enqueue(world.pod("p", resourceClaims=template))
    foreign = plugin.pre_enqueue(world.pod("p", resourceClaims=template, status=made))
    claim(world, "c", owner="p")

    assert waiting.reasons == ('pod "default/p": ResourceClaim not created yet',)
    assert foreign.reasons == ("ResourceClaim default/c was not created for Pod default/p (Pod is not owner)",)
    assert plugin.pre_enqueue(world.pod("p", resourceClaims=template, status=made)).is_success


def test_claims_queue_the_pods_that_use_them_and_freed_devices_queue_all(world):
    event = ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.UPDATE)
    mine = world.pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
    taken, free = claim(world, "c", status={"allocation": {"devices": {"results": []}}}), claim(world, "c")
    claim(world, "other")
    other = world.pod("q", resourceClaims=[{"name": "gpu", "resourceClaimName": "other"}])

    assert world.hint("DynamicResources", ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.ADD), mine, new=free) is QUEUE
    assert world.hint("DynamicResources", ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.ADD), other, new=free) is SKIP
    assert world.hint("DynamicResources", event, mine, old=free, new=free) is SKIP
    assert world.hint("DynamicResources", event, mine, old=free, new=claim(world, "c", status={"reservedFor": [{"uid": "x"}]})) is QUEUE
    assert world.hint("DynamicResources", event, other, old=taken, new=free) is QUEUE
