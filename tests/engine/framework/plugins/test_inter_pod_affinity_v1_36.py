"""v1.36: InterPodAffinity."""

import pytest

from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.QUEUE_SKIP
APP = {"app": "web"}
OTHER = {"app": "db"}
POD_ADD = ClusterEvent(GVK.POD, ActionType.ADD)
POD_LABEL = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_LABEL)
POD_DELETE = ClusterEvent(GVK.POD, ActionType.DELETE)
NODE_ADD = ClusterEvent(GVK.NODE, ActionType.ADD)
NODE_LABEL = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_LABEL)


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


def term(app="web", key="zone", **rest):
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **rest}


def near(*terms):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms or [term()])}}


def far(*terms):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms or [term()])}}


@pytest.mark.parametrize(
    ("affinity", "labels", "place", "hint"),
    [
        (near(), APP, {"nodeName": "n"}, QUEUE),
        (near(), APP, {"status": {"nominatedNodeName": "n"}}, QUEUE),
        (near(), OTHER, {"nodeName": "n"}, SKIP),
        (near(), APP, {}, SKIP),
        (near(), APP, {"nodeName": "n", "namespace": "other"}, SKIP),
        (near(term(), term(app="db")), APP, {"nodeName": "n"}, SKIP),
        (far(), APP, {"nodeName": "n"}, SKIP),
        (None, APP, {"nodeName": "n"}, SKIP),
    ],
)
def test_an_added_pod_queues_a_pod_whose_every_affinity_term_it_matches(world, affinity, labels, place, hint):
    pod = world.pod("p", **({} if affinity is None else {"affinity": affinity}))

    assert world.hint("InterPodAffinity", POD_ADD, pod, new=world.pod("other", labels=labels, **place)) is hint


@pytest.mark.parametrize(
    ("affinity", "before", "after", "hint"),
    [
        (near(), OTHER, APP, QUEUE),
        (near(), APP, OTHER, SKIP),
        (far(), APP, OTHER, QUEUE),
        (far(), OTHER, APP, SKIP),
        (far(), APP, {**APP, "x": "y"}, SKIP),
    ],
)
def test_new_labels_queue_a_pod_whose_affinity_they_match_or_whose_anti_affinity_they_no_longer_match(world, affinity, before, after, hint):
    old, new = (world.pod("other", labels=labels, nodeName="n") for labels in (before, after))

    assert world.hint("InterPodAffinity", POD_LABEL, world.pod("p", affinity=affinity), old=old, new=new) is hint


def test_its_own_new_labels_queue_a_pod(world):
    old, new = world.pod("p", labels=APP), world.pod("p", labels=OTHER)

    assert world.hint("InterPodAffinity", POD_LABEL, old, old=old, new=new) is QUEUE


@pytest.mark.parametrize(
    ("mine", "theirs", "hint"),
    [
        (far(), None, QUEUE),
        (far(term(app="db")), None, SKIP),
        (None, far(), QUEUE),
        (None, far(term(app="db")), SKIP),
        (near(), None, SKIP),
    ],
)
def test_the_deletion_of_a_pod_queues_a_pod_if_one_had_anti_affinity_to_the_other(world, mine, theirs, hint):
    pod = world.pod("p", labels=APP, **({} if mine is None else {"affinity": mine}))
    gone = world.pod("gone", labels=APP, nodeName="n", **({} if theirs is None else {"affinity": theirs}))

    assert world.hint("InterPodAffinity", POD_DELETE, pod, old=gone) is hint


def test_the_deletion_of_a_pod_without_a_node_queues_no_pod(world):
    assert world.hint("InterPodAffinity", POD_DELETE, world.pod("p", affinity=far()), old=world.pod("gone", labels=APP)) is SKIP


@pytest.mark.parametrize(
    ("affinity", "before", "after", "hint"),
    [
        (near(), None, {"zone": "a"}, QUEUE),
        (near(), None, {}, SKIP),
        (near(), {}, {"zone": "a"}, QUEUE),
        (near(), {"zone": "a"}, {"zone": "b"}, QUEUE),
        (near(), {"zone": "a"}, {"zone": "a", "x": "y"}, SKIP),
        (near(), {"zone": "a"}, {}, SKIP),
        (far(), None, {}, QUEUE),
        (far(), {"zone": "a"}, {}, QUEUE),
        (far(), {"zone": "a"}, {"zone": "b"}, QUEUE),
        (far(), {}, {"zone": "a"}, SKIP),
        (far(), {"zone": "a"}, {"zone": "a", "x": "y"}, SKIP),
    ],
)
def test_a_node_queues_a_pod_when_its_domain_helps(world, affinity, before, after, hint):
    old = None if before is None else world.node("n", labels=before)
    event = NODE_ADD if before is None else NODE_LABEL

    assert world.hint("InterPodAffinity", event, world.pod("p", affinity=affinity), old=old, new=world.node("n", labels=after)) is hint


def test_a_pod_without_matching_preferences_is_not_scored(world):
    world.node("n", labels={"zone": "a"})
    preferred = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term()}]}}
    framework = world.framework()

    nobody = world.score(framework, world.pod("p", affinity=preferred))
    world.pod("there", labels=APP, on="n")
    somebody = world.score(framework, world.pod("q", affinity=preferred))

    assert "InterPodAffinity" not in [plugin.name for plugin in nobody.plugins]
    assert "InterPodAffinity" in [plugin.name for plugin in somebody.plugins]


def test_preferences_of_others_can_be_ignored(world):
    world.node("n", labels={"zone": "a"})
    preferred = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term()}]}}
    world.pod("there", affinity=preferred, on="n")
    args = {"ignorePreferredTermsOfExistingPods": True}
    config = {"profiles": [{"pluginConfig": [{"name": "InterPodAffinity", "args": args}]}]}

    with_preferences = world.score(world.framework(), world.pod("p", labels=APP))
    ignored = world.score(world.framework(config), world.pod("p", labels=APP))

    assert "InterPodAffinity" in [plugin.name for plugin in with_preferences.plugins]
    assert "InterPodAffinity" not in [plugin.name for plugin in ignored.plugins]
