"""The plugins of each extension point: MultiPoint, overrides, weights, and invalid profiles."""

import pytest

from schedviz.engine.framework.runtime import PluginListsError
from schedviz.engine.releases.v1_27_plugins import in_tree_registry

SCORE = [
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
]


def _names(framework, point):
    return framework.plugins.names(point)


def _profile(**plugins):
    return {"profiles": [{"plugins": plugins}]}


def _set(*enabled, disabled=()):
    return {"enabled": [{"name": name} for name in enabled], "disabled": [{"name": name} for name in disabled]}


def test_the_default_profile_runs_upstreams_plugins_in_upstreams_order(world):
    framework = world.framework()

    assert _names(framework, "pre_filter") == [
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
    ]
    assert _names(framework, "filter") == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "EBSLimits",
        "GCEPDLimits",
        "NodeVolumeLimits",
        "AzureDiskLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
    ]
    assert _names(framework, "score") == SCORE
    assert framework.plugins.weights == dict(zip(SCORE, (3, 2, 1, 1, 2, 2, 1, 1), strict=True))
    assert _names(framework, "reserve") == _names(framework, "pre_bind") == ["VolumeBinding"]
    assert _names(framework, "post_filter") == ["DefaultPreemption"]
    assert _names(framework, "bind") == ["DefaultBinder"]
    assert _names(framework, "pre_enqueue") == ["SchedulingGates"]
    assert _names(framework, "queue_sort") == ["PrioritySort"]


def test_a_plugin_given_again_in_multi_point_keeps_its_place_and_takes_the_weight(world):
    framework = world.framework(_profile(multiPoint={"enabled": [{"name": "NodeResourcesFit", "weight": 5}]}))

    assert _names(framework, "score") == SCORE
    assert framework.plugins.weights["NodeResourcesFit"] == 5


def test_plugins_given_for_one_point_come_before_multi_points_if_they_are_in_both(world):
    framework = world.framework(_profile(score={"enabled": [{"name": "ImageLocality", "weight": 7}, {"name": "TaintToleration"}]}))

    rest = [name for name in SCORE if name not in ("ImageLocality", "TaintToleration")]
    assert _names(framework, "score") == ["ImageLocality", "TaintToleration", *rest]
    # The weight of a plugin that the extension point enables is its own, not MultiPoint's.
    assert (framework.plugins.weights["ImageLocality"], framework.plugins.weights["TaintToleration"]) == (7, 1)


def test_a_plugin_of_a_single_point_comes_last(world):
    config = _profile(multiPoint=_set(disabled=("NodeAffinity",)), filter=_set("NodeAffinity"))
    framework = world.framework(config)

    assert _names(framework, "filter")[-1] == "NodeAffinity"
    assert "NodeAffinity" not in _names(framework, "score")


def test_a_star_disables_the_plugins_of_multi_point(world):
    config = _profile(preScore=_set(disabled=("*",)), score=_set("ImageLocality", disabled=("*",)))
    framework = world.framework(config)

    assert _names(framework, "pre_score") == []
    assert _names(framework, "score") == ["ImageLocality"]


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ({"filter": _set("Nope")}, 'FilterPlugin "Nope" does not exist'),
        ({"multiPoint": _set("Nope")}, 'PreFilterPlugin "Nope" does not exist'),
        ({"bind": _set("NodeName")}, 'plugin "NodeName" does not extend BindPlugin plugin'),
        ({"filter": _set("NodeName", "NodeName")}, 'plugin "NodeName" already registered as "FilterPlugin"'),
        ({"bind": _set(disabled=("*",))}, 'at least one bind plugin is needed for profile with scheduler name "default-scheduler"'),
        (
            {"queueSort": _set(disabled=("*",))},
            'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
        ),
    ],
)
def test_a_profile_that_cannot_work_is_rejected(world, plugins, message):
    with pytest.raises(PluginListsError) as caught:
        world.framework(_profile(**plugins))

    assert caught.value.message == message
    assert str(caught.value) == f"initializing profiles: creating profile for scheduler name default-scheduler: {message}"


def test_every_default_plugin_is_registered(world):
    registered = {name for point in ("filter", "score", "bind") for name in _names(world.framework(), point)}

    assert registered <= in_tree_registry().keys()


def test_plugins_register_the_events_they_wait_for(world):
    from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent

    events = world.framework().cluster_event_map()

    node = ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE)
    assert events[node] == {"NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"}
    # Plugins that register for no events get all of them.
    assert events[ClusterEvent(GVK.POD, ActionType.ALL)] >= {"ImageLocality", "DefaultBinder", "InterPodAffinity"}
