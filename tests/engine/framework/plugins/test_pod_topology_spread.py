import msgspec
import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins.podtopologyspread import filtering
from schedviz.engine.framework.plugins.podtopologyspread.scoring import go_log

NAME = "PodTopologySpread"
ZONE = "topology.kubernetes.io/zone"
SKEWED = (NAME, "Unschedulable", ("node(s) didn't match pod topology spread constraints",))
NO_LABEL = (NAME, "UnschedulableAndUnresolvable", ("node(s) didn't match pod topology spread constraints (missing required label)",))


def _constraint(key=ZONE, action="DoNotSchedule", **rest):
    selector = {"matchLabels": {"app": "a"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector, **rest}


@pytest.fixture
def zones(world):
    """Two pods in zone a, one in b, none in c; x has no zone."""
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("c1", "c")):
        world.node(name, labels={ZONE: zone})
    world.node("x1")
    for number, node in enumerate(("a1", "a2", "b1")):
        world.pod(f"old{number}", on=node, labels={"app": "a"})
    return world


def _pod(world, *constraints, name="p", **spec):
    return world.pod(name, labels={"app": "a"}, topologySpreadConstraints=list(constraints), **spec)


def test_a_zone_with_too_many_matching_pods_is_rejected(zones):
    rejected = zones.rejections(zones.framework(), _pod(zones, _constraint()))

    assert rejected == {"a1": SKEWED, "a2": SKEWED, "b1": SKEWED, "x1": NO_LABEL}


def test_a_larger_max_skew_allows_more_zones(zones):
    rejected = zones.rejections(zones.framework(), _pod(zones, _constraint(maxSkew=2)))

    assert rejected == {"a1": SKEWED, "a2": SKEWED, "x1": NO_LABEL}


def test_only_selected_living_pods_of_the_namespace_count(zones):
    zones.pod("other-app", on="c1", labels={"app": "b"})
    zones.pod("other-namespace", on="c1", labels={"app": "a"}, namespace="team")
    zones.pod("leaving", on="c1", labels={"app": "a"}, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})

    assert "c1" not in zones.rejections(zones.framework(), _pod(zones, _constraint()))


def test_too_few_domains_make_the_minimum_0(zones):
    for number in range(2, 4):
        zones.pod(f"c-old{number}", on="c1", labels={"app": "a"})
    zones.pod("b-old", on="b1", labels={"app": "a"})

    # Two or more everywhere: the fewest is 2, unless there have to be four zones.
    assert zones.rejections(zones.framework(), _pod(zones, _constraint())) == {"x1": NO_LABEL}
    rejected = zones.rejections(zones.framework(), _pod(zones, _constraint(minDomains=4), name="q"))
    assert rejected == {"a1": SKEWED, "a2": SKEWED, "b1": SKEWED, "c1": SKEWED, "x1": NO_LABEL}


def test_nodes_with_untolerated_taints_are_excluded_by_node_taints_policy(zones):
    zones.node("d1", labels={ZONE: "d"}, taints=[{"key": "k", "effect": "NoSchedule"}])
    zones.pod("c-old", on="c1", labels={"app": "a"})

    ignoring = zones.rejections(zones.framework(), _pod(zones, _constraint()))
    honoring = zones.rejections(zones.framework(), _pod(zones, _constraint(nodeTaintsPolicy="Honor"), name="q"))

    # With zone d the fewest is 0, without it 1.
    assert ignoring["c1"] == ignoring["b1"] == SKEWED
    assert "c1" not in honoring
    assert "b1" not in honoring


def test_match_label_keys_narrow_the_selector(zones):
    constraint = _constraint(matchLabelKeys=["version"])
    zones.pod("new", on="c1", labels={"app": "a", "version": "2"})
    pod = zones.pod("p", labels={"app": "a", "version": "2"}, topologySpreadConstraints=[constraint])

    assert set(zones.rejections(zones.framework(), pod)) == {"c1", "x1"}


def test_added_and_removed_pods_change_the_counts(zones):
    framework = zones.framework()
    pod = _pod(zones, _constraint())
    _, _, state = zones.filter(framework, pod)
    again = state.clone()
    c1 = zones.snapshot.node_info_map["c1"]

    framework.run_pre_filter_extension_add_pod(again, pod, zones.pod("added", labels={"app": "a"}), c1)

    rows = zones.snapshot.rows()
    before, after = framework.run_filter_plugins(state, pod, rows), framework.run_filter_plugins(again, pod, rows)
    names = list(rows.names)
    assert before[names.index("b1")].is_unschedulable
    assert after[names.index("b1")].is_success
    assert after[names.index("c1")].is_success


def test_counts_survive_a_checkpoint(zones):
    framework = zones.framework()
    pod = _pod(zones, _constraint(), _constraint("kubernetes.io/hostname"))
    _, outcome, state = zones.filter(framework, pod)

    again = CycleState.from_state(msgspec.msgpack.decode(msgspec.msgpack.encode(state.to_state())))

    assert framework.filter_rows(again, pod, zones.snapshot.rows(), 9).node_to_status() == outcome.node_to_status()


def test_soft_constraints_prefer_emptier_zones(zones):
    framework = zones.framework()
    pod = _pod(zones, _constraint(action="ScheduleAnyway"))

    # 2, 1 and 0 pods times log(3 zones + 2), rounded; a node without a zone is not ranked.
    assert zones.scores_of(framework, pod, NAME) == {"a1": 3, "a2": 3, "b1": 2, "c1": 0, "x1": 0}
    assert zones.scores_of(framework, pod, NAME, "normalized") == {"a1": 0, "a2": 0, "b1": 33, "c1": 100, "x1": 0}


def test_pods_of_a_service_are_spread_by_default(zones):
    zones.object(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}}
    )
    framework = zones.framework()

    pod = zones.pod("p", labels={"app": "a"})
    without = zones.scores_of(framework, zones.pod("q", labels={"app": "b"}), NAME, "normalized")

    # Hosts: pods times log(5 + 2) and 2; zones (none is one, too): pods times log(4 + 2) and 4.
    assert zones.scores_of(framework, pod, NAME) == {"a1": 12, "a2": 12, "b1": 10, "c1": 6, "x1": 2}
    assert zones.scores_of(framework, pod, NAME, "normalized") == {"a1": 16, "a2": 16, "b1": 33, "c1": 66, "x1": 100}
    assert set(without.values()) == {100}


def test_a_list_of_the_profile_replaces_the_defaults(zones):
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    args = {"defaultingType": "List", "defaultConstraints": [constraint]}
    framework = zones.framework({"profiles": [{"pluginConfig": [{"name": NAME, "args": args}]}]})
    zones.object(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}}
    )

    assert set(zones.rejections(framework, zones.pod("p", labels={"app": "a"}))) == {"a1", "a2", "b1", "x1"}
    assert zones.rejections(framework, zones.pod("q", labels={"app": "b"})) == {}


@pytest.mark.parametrize(("value", "expected"), [(1.0, 0.0), (5.0, 1.6094379124341003), (1002.0, 6.90975328164481)])
def test_the_logarithm_is_gos(value, expected):
    assert go_log(value) == expected


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
def test_of_tied_domains_the_same_two_are_kept_whichever_node_came_first(world, order):
    for zone in order:
        world.node(f"{zone}1", labels={ZONE: zone})
    _, _, state = world.filter(world.framework(), _pod(world, _constraint()))

    assert state.read(filtering.PRE_FILTER_STATE_KEY).paths[ZONE].paths == [("a", 0), ("b", 0)]
