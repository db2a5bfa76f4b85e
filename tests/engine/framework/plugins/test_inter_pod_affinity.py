import msgspec
import pytest

from schedviz.engine.framework.cycle_state import CycleState

NAME = "InterPodAffinity"
ZONE = "topology.kubernetes.io/zone"
AFFINITY = (NAME, "UnschedulableAndUnresolvable", ("node(s) didn't match pod affinity rules",))
ANTI_AFFINITY = (NAME, "Unschedulable", ("node(s) didn't match pod anti-affinity rules",))
EXISTING = (NAME, "Unschedulable", ("node(s) didn't satisfy existing pods anti-affinity rules",))


def _term(app="db", key=ZONE, **rest):
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key, **rest}


def _near(*terms):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def _far(*terms):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def _prefer(side, *weighted):
    terms = [{"weight": weight, "podAffinityTerm": term} for weight, term in weighted]
    return {side: {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


@pytest.fixture
def zones(world):
    """A database in zone a; x has no zone."""
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        world.node(name, labels={ZONE: zone})
    world.node("x1")
    world.pod("db", on="a1", labels={"app": "db"})
    return world


def test_a_pod_with_affinity_fits_in_the_domain_of_matching_pods(zones):
    rejected = zones.rejections(zones.framework(), zones.pod("p", affinity=_near(_term())))

    assert rejected == {"b1": AFFINITY, "x1": AFFINITY}


def test_all_terms_must_match(zones):
    zones.pod("web", on="b1", labels={"app": "web"})

    rejected = zones.rejections(zones.framework(), zones.pod("p", affinity=_near(_term(), _term("web"))))

    assert set(rejected) == {"a1", "a2", "b1", "x1"}


def test_the_first_pod_of_a_group_fits_on_any_node_with_the_label(zones):
    pod = zones.pod("p", labels={"app": "new"}, affinity=_near(_term("new")))

    assert zones.rejections(zones.framework(), pod) == {"x1": AFFINITY}


def test_a_pod_stays_away_from_pods_that_its_anti_affinity_matches(zones):
    assert zones.rejections(zones.framework(), zones.pod("p", affinity=_far(_term()))) == {"a1": ANTI_AFFINITY, "a2": ANTI_AFFINITY}


def test_anti_affinity_of_running_pods_rejects_incoming_pods(zones):
    zones.pod("loner", on="b1", affinity=_far(_term("web")))
    framework = zones.framework()

    assert zones.rejections(framework, zones.pod("p", labels={"app": "web"})) == {"b1": EXISTING}
    assert zones.rejections(framework, zones.pod("q", labels={"app": "other"})) == {}


def test_a_pod_without_relevant_terms_skips_the_filter(zones):
    zones.pod("loner", on="b1", affinity=_far(_term("web")))

    _, _, state = zones.filter(zones.framework(), zones.pod("q", labels={"app": "other"}))

    assert NAME in state.skip_filter_plugins


def test_namespaces_can_be_named_or_selected(zones):
    zones.object({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"kind": "prod"}}})
    zones.pod("theirs", on="b1", labels={"app": "db"}, namespace="team")
    framework = zones.framework()

    def rejected(name, **rest):
        return set(zones.rejections(framework, zones.pod(name, affinity=_far(_term(**rest)))))

    assert rejected("own") == {"a1", "a2"}
    assert rejected("named", namespaces=["team"]) == {"b1"}
    assert rejected("selected", namespaceSelector={"matchLabels": {"kind": "prod"}}) == {"b1"}
    assert rejected("all", namespaceSelector={}) == {"a1", "a2", "b1"}
    assert rejected("none", namespaceSelector={"matchLabels": {"kind": "test"}}) == set()


def test_terms_of_running_pods_match_the_labels_of_the_pods_namespace(zones):
    zones.object({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"kind": "prod"}}})
    zones.pod("loner", on="b1", namespace="team", affinity=_far(_term("web", namespaceSelector={"matchLabels": {"kind": "prod"}})))

    assert zones.rejections(zones.framework(), zones.pod("p", labels={"app": "web"})) == {"b1": EXISTING}


def test_an_invalid_selector_is_reported(zones):
    term = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}, "topologyKey": ZONE}
    zones.update()

    outcome = zones.framework().run_pre_filter_plugins(CycleState(), zones.pod("p", affinity=_near(term)))

    assert outcome.status.code.value == "UnschedulableAndUnresolvable"
    assert outcome.status.message == 'parsing pod: requiredAffinityTerms: "Near" is not a valid label selector operator'


def test_added_and_removed_pods_change_the_counts(zones):
    framework = zones.framework()
    pod = zones.pod("p", affinity=_far(_term()))
    _, _, state = zones.filter(framework, pod)
    again = state.clone()
    infos = zones.snapshot.node_info_map

    framework.run_pre_filter_extension_remove_pod(again, pod, infos["a1"].pods[0], infos["a1"])
    framework.run_pre_filter_extension_add_pod(again, pod, zones.pod("db2", labels={"app": "db"}), infos["b1"])

    def rejected(of):
        rows = zones.snapshot.rows()
        verdicts = framework.run_filter_plugins(of, pod, rows)
        return {name for row, name in enumerate(rows.names) if not verdicts[row].is_success}

    assert rejected(state) == {"a1", "a2"}
    assert rejected(again) == {"b1"}
    restored = CycleState.from_state(msgspec.msgpack.decode(msgspec.msgpack.encode(again.to_state())))
    assert rejected(restored) == {"b1"}


def test_preferences_of_both_sides_add_up(zones):
    zones.pod("liker", on="b1", affinity=_prefer("podAffinity", (30, _term("web"))))
    zones.pod("needer", on="b1", labels={"app": "web"}, affinity=_near(_term("web")))
    framework = zones.framework()
    wishes = {**_prefer("podAffinity", (10, _term())), **_prefer("podAntiAffinity", (5, _term("web")))}
    pod = zones.pod("p", labels={"app": "web"}, affinity=wishes)

    # a: 10 for the database. b: 30 that the liker gives, 1 of the needer's requirement, -5 for the needer.
    assert zones.scores_of(framework, pod, NAME) == {"a1": 10, "a2": 10, "b1": 26, "x1": 0}
    assert zones.scores_of(framework, pod, NAME, "normalized") == {"a1": 38, "a2": 38, "b1": 100, "x1": 0}


def test_preferences_of_running_pods_can_be_ignored(zones):
    zones.pod("liker", on="b1", affinity=_prefer("podAffinity", (30, _term("web"))))
    args = {"ignorePreferredTermsOfExistingPods": True, "hardPodAffinityWeight": 0}
    framework = zones.framework({"profiles": [{"pluginConfig": [{"name": NAME, "args": args}]}]})

    assert set(zones.scores_of(framework, zones.pod("p", labels={"app": "web"}), NAME).values()) == {0}


def test_without_any_term_every_node_gets_0(zones):
    assert set(zones.scores_of(zones.framework(), zones.pod("p"), NAME, "normalized").values()) == {0}
