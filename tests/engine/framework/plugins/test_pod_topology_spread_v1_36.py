"""v1.36: PodTopologySpread."""

import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint, QueueingHintError

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.QUEUE_SKIP
APP = {"app": "web"}
OTHER = {"app": "db"}
POD_ADD = ClusterEvent(GVK.POD, ActionType.ADD)
POD_LABEL = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_LABEL)
POD_TOLERATION = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_TOLERATION)
POD_DELETE = ClusterEvent(GVK.POD, ActionType.DELETE)
NODE_ADD = ClusterEvent(GVK.NODE, ActionType.ADD)
NODE_DELETE = ClusterEvent(GVK.NODE, ActionType.DELETE)
NODE_LABEL = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_LABEL)
NODE_TAINT = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT)
HARD = {"key": "gpu", "value": "10", "effect": "NoSchedule"}


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


def spread(key="zone", *, soft=False, app="web", **rest):
    action = "ScheduleAnyway" if soft else "DoNotSchedule"
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": {"matchLabels": {"app": app}}, **rest}


def spreading(world, *constraints, **rest):
    return world.pod("p", labels=APP, topologySpreadConstraints=list(constraints or [spread()]), **rest)


@pytest.mark.parametrize("event", [POD_ADD, POD_DELETE])
@pytest.mark.parametrize(
    ("labels", "place", "hint"),
    [
        (APP, {"nodeName": "n"}, QUEUE),
        (APP, {"status": {"nominatedNodeName": "n"}}, QUEUE),
        (OTHER, {"nodeName": "n"}, SKIP),
        (APP, {}, SKIP),
        (APP, {"nodeName": "n", "namespace": "other"}, SKIP),
    ],
)
def test_a_matching_pod_that_comes_or_goes_queues_a_spreading_pod(world, event, labels, place, hint):
    other = world.pod("other", labels=labels, **place)
    objects = {"new": other} if event is POD_ADD else {"old": other}

    assert world.hint("PodTopologySpread", event, spreading(world), **objects) is hint


@pytest.mark.parametrize(
    ("before", "after", "hint"), [(OTHER, APP, QUEUE), (APP, OTHER, QUEUE), (APP, {**APP, "x": "y"}, SKIP), (OTHER, OTHER, SKIP)]
)
def test_a_pod_that_starts_or_stops_to_match_queues_a_spreading_pod(world, before, after, hint):
    old, new = (world.pod("other", labels=labels, nodeName="n") for labels in (before, after))

    assert world.hint("PodTopologySpread", POD_LABEL, spreading(world), old=old, new=new) is hint


@pytest.mark.parametrize(("policy", "hint"), [("Honor", QUEUE), ("Ignore", SKIP)])
def test_its_own_toleration_queues_a_pod_that_honors_taints(world, policy, hint):
    constraint = spread(nodeTaintsPolicy=policy)
    old = spreading(world, constraint)
    new = spreading(world, constraint, tolerations=[{"operator": "Exists"}])

    assert world.hint("PodTopologySpread", POD_TOLERATION, old, old=old, new=new) is hint


@pytest.mark.parametrize(("labels", "hint"), [({"zone": "a"}, QUEUE), ({}, SKIP), ({"rack": "r"}, SKIP)])
def test_nodes_with_every_topology_key_queue_a_spreading_pod_when_they_come_or_go(world, labels, hint):
    node = world.node("n", labels=labels)

    assert world.hint("PodTopologySpread", NODE_ADD, spreading(world), new=node) is hint
    assert world.hint("PodTopologySpread", NODE_DELETE, spreading(world), old=node) is hint


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        ({}, {"zone": "a"}, QUEUE),
        ({"zone": "a"}, {}, QUEUE),
        ({"zone": "a"}, {"zone": "b"}, QUEUE),
        ({"zone": "a"}, {"zone": "a", "x": "y"}, SKIP),
        ({}, {"x": "y"}, SKIP),
    ],
)
def test_a_node_that_changes_its_domain_queues_a_spreading_pod(world, before, after, hint):
    old, new = world.node("n", labels=before), world.node("n", labels=after)

    assert world.hint("PodTopologySpread", NODE_LABEL, spreading(world), old=old, new=new) is hint


@pytest.mark.parametrize(("labels", "hint"), [({"zone": "a"}, QUEUE), ({}, SKIP)])
def test_a_taint_queues_a_spreading_pod_if_the_node_has_a_domain(world, labels, hint):
    old, new = world.node("n", labels=labels), world.node("n", labels=labels, taints=[HARD])

    assert world.hint("PodTopologySpread", NODE_TAINT, spreading(world), old=old, new=new) is hint


def test_an_invalid_selector_is_an_error_of_the_hint_and_of_pre_filter(world):
    broken = {**spread(), "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In"}]}}
    pod = spreading(world, broken)
    node = world.node("n", labels={"zone": "a"})

    with pytest.raises(QueueingHintError, match=r"^obtaining pod's hard topology spread constraints: "):
        world.hint("PodTopologySpread", NODE_ADD, pod, new=node)
    status = world.framework().run_pre_filter_plugins(CycleState(), pod).status
    assert "get constraints from pod: obtaining pod's hard topology spread constraints: " in status.message


def test_two_constraints_with_one_key_count_separately(world):
    for zone in ("a", "b"):
        world.node(zone, labels={"zone": zone})
    for number in range(3):
        world.pod(f"web-{number}", labels=APP, on="a")
    world.pod("db-0", labels=OTHER, on="b")
    world.pod("db-1", labels=OTHER, on="b")

    rejected = world.rejections(world.framework(), spreading(world, spread(), spread(app="db")))

    # Neither selector is satisfied: a has too many of web; b has 2 of db against 0, and the pod does not count for db.
    assert sorted(rejected) == ["a", "b"]


def test_two_soft_constraints_with_one_key_score_separately(world):
    for zone in ("a", "b"):
        world.node(zone, labels={"zone": zone})
    world.pod("web-0", labels=APP, on="a")
    world.pod("db-0", labels=OTHER, on="b")
    world.pod("db-1", labels=OTHER, on="b")

    pod = spreading(world, spread(soft=True), spread(soft=True, app="db", maxSkew=2))

    # 1 pod for web on a, 2 for db on b, each times log(2 zones + 2); maxSkew - 1 is added to both. Rounded.
    assert world.scores_of(world.framework(), pod, "PodTopologySpread") == {"a": 2, "b": 4}


def test_fewer_domains_than_min_domains_make_the_minimum_0(world):
    world.node("a", labels={"zone": "a"})
    world.pod("there", labels=APP, on="a")

    assert world.rejections(world.framework(), spreading(world)) == {}
    assert sorted(world.rejections(world.framework(), spreading(world, spread(minDomains=2)))) == ["a"]


def test_tolerations_that_compare_numbers_decide_which_nodes_count(v1_36_with_gates):
    tolerates = [{"key": "gpu", "operator": "Gt", "value": "9", "effect": "NoSchedule"}]
    results = {}
    for gate in (False, True):
        world = v1_36_with_gates(TaintTolerationComparisonOperators=gate)
        world.node("a", labels={"zone": "a"})
        world.node("b", labels={"zone": "b"}, taints=[HARD])
        world.pod("there", labels=APP, on="a")
        pod = spreading(world, spread(nodeTaintsPolicy="Honor"), tolerations=tolerates)
        results[gate] = sorted(
            name for name, (plugin, *_) in world.rejections(world.framework(), pod).items() if plugin == "PodTopologySpread"
        )

    # With the gate b counts, has no pod, and so a has one too many.
    assert results == {False: [], True: ["a"]}


def test_spreading_is_skipped_without_constraints(world):
    world.node("n", labels={"zone": "a"})
    pre, _, _ = world.filter(world.framework(), world.pod("p"))

    assert next(answer for answer in pre.plugin_results if answer.plugin == "PodTopologySpread").status.is_skip
