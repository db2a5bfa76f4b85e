import pytest

NAME = "NodeAffinity"
NO_MATCH = (NAME, "UnschedulableAndUnresolvable", ("node(s) didn't match Pod's node affinity/selector",))


def _required(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def _expression(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def _field(*values):
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(values)}]}


@pytest.fixture
def three(world):
    for name, disk, cores in (("n1", "ssd", "4"), ("n2", "hdd", "16"), ("n3", "", "")):
        world.node(name, labels={"disk": disk, "cores": cores} if disk else {})
    return world


@pytest.mark.parametrize(
    ("spec", "rejected"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, {"n2", "n3"}),
        ({"affinity": _required(_expression("disk", "In", "hdd", "tape"))}, {"n1", "n3"}),
        ({"affinity": _required(_expression("disk", "NotIn", "ssd"))}, {"n1"}),
        ({"affinity": _required(_expression("cores", "Gt", "8"))}, {"n1", "n3"}),
        ({"affinity": _required(_expression("cores", "Lt", "8"))}, {"n2", "n3"}),
        ({"affinity": _required(_expression("disk", "In", "ssd"), _expression("cores", "Gt", "8"))}, {"n3"}),
        ({"affinity": _required({})}, {"n1", "n2", "n3"}),
        ({"affinity": _required(_expression("disk", "In", "hdd")), "nodeSelector": {"disk": "ssd"}}, {"n1", "n2", "n3"}),
    ],
)
def test_selector_and_required_affinity_must_both_match(three, spec, rejected):
    assert three.rejections(three.framework(), three.pod("p", **spec)) == dict.fromkeys(rejected, NO_MATCH)


def test_a_pod_without_required_affinity_skips_the_filter(three):
    pre, _, state = three.filter(three.framework(), three.pod("p"))

    assert next(answer for answer in pre.plugin_results if answer.plugin == NAME).status.is_skip
    assert NAME in state.skip_filter_plugins


def test_only_nodes_named_by_every_term_are_evaluated(three):
    named, _, _ = three.filter(three.framework(), three.pod("p", affinity=_required(_field("n2"), _field("n3"))))
    not_all, _, _ = three.filter(three.framework(), three.pod("q", affinity=_required(_field("n2"), _expression("disk", "Exists"))))

    assert named.node_names == {"n2", "n3"}
    assert not_all.node_names is None


def test_fields_that_exclude_each_other_fail_at_once(three):
    from schedviz.engine.framework.cycle_state import CycleState

    term = {"matchFields": [*_field("n1")["matchFields"], *_field("n2")["matchFields"]]}
    three.update()
    outcome = three.framework().run_pre_filter_plugins(CycleState(), three.pod("p", affinity=_required(term)))

    assert (outcome.status.code.value, outcome.status.message) == ("UnschedulableAndUnresolvable", "pod affinity terms conflict")
    assert outcome.status.failed_plugin == NAME


def test_preferred_terms_add_up_and_the_highest_becomes_100(three):
    wishes = [
        {"weight": 10, "preference": _expression("disk", "In", "ssd")},
        {"weight": 30, "preference": _expression("cores", "Exists")},
    ]
    pod = three.pod("p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wishes}})

    assert three.scores_of(three.framework(), pod, NAME) == {"n1": 40, "n2": 30, "n3": 0}
    assert three.scores_of(three.framework(), pod, NAME, "normalized") == {"n1": 100, "n2": 75, "n3": 0}


def test_affinity_that_the_profile_adds_counts_for_every_pod(three):
    added = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_expression("disk", "Exists")]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": _expression("disk", "In", "hdd")}],
    }
    framework = three.framework({"profiles": [{"pluginConfig": [{"name": NAME, "args": {"addedAffinity": added}}]}]})

    rejected = three.rejections(framework, three.pod("p"))

    assert rejected == {"n3": (NAME, "UnschedulableAndUnresolvable", ("node(s) didn't match scheduler-enforced node affinity",))}
    assert three.scores_of(framework, three.pod("q"), NAME) == {"n1": 0, "n2": 5}
