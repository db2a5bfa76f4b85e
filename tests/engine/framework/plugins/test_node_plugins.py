"""NodeUnschedulable, NodeName, TaintToleration, NodePorts."""

import pytest

HARD = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def test_a_cordoned_node_accepts_only_pods_that_tolerate_its_taint(world):
    world.node("n", unschedulable=True)
    cordon = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}

    rejected = world.rejections(world.framework(), world.pod("p"))
    borne = world.rejections(world.framework(), world.pod("q", tolerations=[cordon]))

    assert rejected == {"n": ("NodeUnschedulable", "UnschedulableAndUnresolvable", ("node(s) were unschedulable",))}
    assert borne == {}


def test_a_pod_that_names_its_node_fits_nowhere_else(world):
    world.node("a")
    world.node("b")

    rejected = world.rejections(world.framework(), world.pod("p", nodeName="b"))

    assert rejected == {"a": ("NodeName", "UnschedulableAndUnresolvable", ("node(s) didn't match the requested node name",))}


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "yes"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_a_noschedule_taint_rejects_pods_that_do_not_tolerate_it(world, toleration, fits):
    world.node("n", taints=[HARD])
    world.node("free")

    rejected = world.rejections(world.framework(), world.pod("p", tolerations=[toleration]))

    reason = ("node(s) had untolerated taint {gpu: yes}",)
    assert rejected == ({} if fits else {"n": ("TaintToleration", "UnschedulableAndUnresolvable", reason)})


def test_the_first_untolerated_taint_is_the_reason(world):
    soft = {"key": "slow", "effect": "PreferNoSchedule"}
    world.node("n", taints=[soft, {"key": "a", "effect": "NoExecute"}, HARD])

    rejected = world.rejections(world.framework(), world.pod("p", tolerations=[{"key": "a", "operator": "Exists"}]))

    assert rejected["n"][2] == ("node(s) had untolerated taint {gpu: yes}",)


def test_prefernoschedule_taints_lower_the_score(world):
    soft = [{"key": key, "effect": "PreferNoSchedule"} for key in ("a", "b")]
    world.node("none")
    world.node("one", taints=soft[:1])
    world.node("two", taints=soft)
    framework = world.framework()

    assert world.scores_of(framework, world.pod("p"), "TaintToleration") == {"none": 0, "one": 1, "two": 2}
    assert world.scores_of(framework, world.pod("p"), "TaintToleration", "normalized") == {"none": 100, "one": 50, "two": 0}
    tolerant = world.pod("q", tolerations=[{"key": "b", "operator": "Exists"}])
    assert world.scores_of(framework, tolerant, "TaintToleration", "weighted") == {"none": 300, "one": 0, "two": 0}


def test_without_prefernoschedule_taints_every_node_gets_100(world):
    world.node("a")
    world.node("b")

    assert world.scores_of(world.framework(), world.pod("p"), "TaintToleration", "normalized") == {"a": 100, "b": 100}


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"hostPort": 80, "containerPort": 80}, False),
        ({"hostPort": 80, "containerPort": 80, "protocol": "UDP"}, True),
        ({"hostPort": 80, "containerPort": 80, "hostIP": "10.0.0.1"}, False),
        ({"hostPort": 80, "containerPort": 80, "hostIP": "10.0.0.2"}, True),
        ({"hostPort": 81, "containerPort": 80}, True),
        ({"containerPort": 80}, True),
    ],
)
def test_a_host_port_can_be_used_once_on_each_address(world, wanted, fits):
    world.node("n")
    world.pod("a", on="n", ports=[{"hostPort": 80, "containerPort": 80, "hostIP": "10.0.0.1"}])

    rejected = world.rejections(world.framework(), world.pod("p", ports=[wanted]))

    reason = ("node(s) didn't have free ports for the requested pod ports",)
    assert rejected == ({} if fits else {"n": ("NodePorts", "Unschedulable", reason)})
