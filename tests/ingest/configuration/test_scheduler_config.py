"""Older configurations are converted to equivalent ones of v1; unsupported parts are reported."""

import json

import pytest

from schedviz.engine.config import load_configuration
from schedviz.ingest.configuration.config_text import parse_config
from schedviz.ingest.configuration.scheduler_config import convert
from schedviz.ingest.errors import UnreadableFile

#: From an article about an incident of 2020: comments, a comma at the end, `...`, members in another case.
ARTICLE = """{
"apiVersion": "kubescheduler.config.k8s.io/v1alpha2",
"kind": "KubeSchedulerConfiguration",
"leaderElection": {
"leaderElect": true
},
...
"extenders": [
{
"apiVersion": "v1beta1",
"enableHttps": false,
"filterVerb": "filter",
"BindVerb": "bind",
"weight": 1,
// the part that was missing
//"preemptVerb": "preempt",
"nodeCacheCapable": false,
"urlPrefix": "http://sheduler-extender:1003/v1",
}
]
}
"""


def _convert(document):
    converted = convert(json.dumps(document))
    load_configuration(converted.config)
    return converted


def _old(version, **members):
    return {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration", **members}


def test_the_file_of_the_article_is_converted():
    converted = convert(ARTICLE)

    assert converted.config == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": True},
        "extenders": [
            {
                "enableHTTPS": False,
                "filterVerb": "filter",
                "bindVerb": "bind",
                "weight": 1,
                "nodeCacheCapable": False,
                "urlPrefix": "http://sheduler-extender:1003/v1",
            }
        ],
    }
    assert converted.dropped == ["extenders[0].apiVersion: an extender has no such member"]
    assert load_configuration(converted.config).extenders[0].bind_verb == "bind"


def test_settings_of_the_whole_scheduler_become_those_of_its_profile():
    converted = _convert(
        _old(
            "v1alpha1",
            schedulerName="mine",
            hardPodAffinitySymmetricWeight=7,
            bindTimeoutSeconds=5,
            disablePreemption=True,
            healthzBindAddress="0.0.0.0:1",
            leaderElection={"lockObjectName": "x", "resourceLock": "endpoints"},
            plugins={"postFilter": {"disabled": [{"name": "ImageLocality"}]}, "unreserve": {}},
        )
    )

    profile = load_configuration(converted.config).profiles[0]
    assert profile.scheduler_name == "mine"
    assert profile.args("InterPodAffinity").hard_pod_affinity_weight == 7
    assert profile.args("VolumeBinding").bind_timeout_seconds == 5
    assert [plugin.name for plugin in profile.plugins.post_filter.disabled] == ["DefaultPreemption"]
    assert [plugin.name for plugin in profile.plugins.pre_score.disabled] == ["ImageLocality"]
    assert converted.config["leaderElection"] == {"resourceName": "x", "resourceLock": "leases"}
    assert [dropped.partition(":")[0] for dropped in converted.dropped] == [
        "healthzBindAddress",
        "leaderElection.resourceLock",
        "profiles[0].plugins.unreserve",
    ]


def test_scoring_by_resources_is_a_strategy():
    enabled = [{"name": "NodeResourcesMostAllocated", "weight": 5}, {"name": "SelectorSpread"}]
    plugins = {"score": {"disabled": [{"name": "NodeResourcesLeastAllocated"}], "enabled": enabled}}
    args = {"resources": [{"name": "cpu", "weight": 2}]}
    configs = [{"name": "NodeResourcesMostAllocated", "args": args}]

    converted = _convert(_old("v1beta1", profiles=[{"schedulerName": "a", "plugins": plugins, "pluginConfig": configs}]))

    profile = load_configuration(converted.config).profiles[0]
    assert profile.args("NodeResourcesFit").scoring_strategy.type == "MostAllocated"
    assert [resource.name for resource in profile.args("NodeResourcesFit").scoring_strategy.resources] == ["cpu"]
    assert [(plugin.name, plugin.weight) for plugin in profile.plugins.score.enabled] == [("NodeResourcesFit", 5)]
    assert profile.plugins.score.disabled == ()
    assert len(converted.dropped) == 1


def test_arguments_are_converted_to_the_new_version_too():
    args = {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": "InterPodAffinityArgs", "hardPodAffinityWeight": 3}

    converted = _convert(_old("v1beta3", profiles=[{"pluginConfig": [{"name": "InterPodAffinity", "args": args}]}]))

    assert load_configuration(converted.config).profiles[0].args("InterPodAffinity").hard_pod_affinity_weight == 3
    assert converted.dropped == []


def test_a_policy_names_the_plugins():
    converted = _convert(
        {
            "apiVersion": "v1",
            "kind": "Policy",
            "predicates": [{"name": "PodFitsResources"}, {"name": "TestServiceAffinity"}],
            "priorities": [{"name": "MostRequestedPriority", "weight": 2}, {"name": "EqualPriority", "weight": 1}],
            "extenders": [{"urlPrefix": "http://e", "filterVerb": "f", "httpTimeout": 100000000}],
            "hardPodAffinitySymmetricWeight": 10,
        }
    )

    configuration = load_configuration(converted.config)
    plugins = configuration.profiles[0].plugins
    assert [plugin.name for plugin in plugins.filter.enabled] == ["NodeUnschedulable", "TaintToleration", "NodeResourcesFit"]
    assert [(plugin.name, plugin.weight) for plugin in plugins.score.enabled] == [("NodeResourcesFit", 2)]
    assert configuration.profiles[0].args("NodeResourcesFit").scoring_strategy.type == "MostAllocated"
    assert configuration.extenders[0].http_timeout == "100000000ns"
    assert [dropped.partition(":")[0] for dropped in converted.dropped] == ["predicates[1]", "priorities[1]"]


def test_a_configuration_of_v1_is_unchanged():
    document = _old("v1", profiles=[{"schedulerName": "a"}, {"schedulerName": "b"}], parallelism=3)

    assert _convert(document).config == document
    assert _convert(document).dropped == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "this is not JSON"),
        ("a: [", "neither JSON nor YAML"),
        ("- a", "expected a KubeSchedulerConfiguration"),
        ("kind: Pod\napiVersion: v1", "is no configuration of the scheduler"),
        ("apiVersion: kubescheduler.config.k8s.io/v1alpha2\nkind: KubeSchedulerConfiguration\npluginConfig: [x]\nplugins: 3", ""),
        ("apiVersion: v1\nkind: Policy\npredicates: [x]", "members of the wrong type"),
        ("a: 1\na: 2", 'yaml: unmarshal errors:\n  line 2: key "a" already set in map'),
    ],
)
def test_members_that_cannot_be_converted_are_reported(text, words):
    if not words:
        convert(text)
        return
    with pytest.raises(UnreadableFile) as caught:
        convert(text)
    assert words in str(caught.value)


def test_members_given_twice_are_found_with_their_path():
    parsed = parse_config('{"a": 1, "a": 2, "profiles": [{"x": 1}, {"x": 1, "x": 2}]}')

    assert parsed.duplicates == ('duplicate field "a"', 'duplicate field "profiles[1].x"')


@pytest.mark.parametrize("piece", ['"\\', '"', '"\\\\', '/*"', ", "])
def test_text_with_open_strings_is_refused_in_linear_time(piece: str) -> None:
    # Quadratic time would take minutes.
    with pytest.raises(UnreadableFile, match="not JSON"):
        parse_config('{"kind": "KubeSchedulerConfiguration", "x": ' + piece * 100_000)


def test_comment_signs_inside_a_string_are_kept():
    assert parse_config('{"url": "http://a,}", // here\n "b": [1,],}').document == {"url": "http://a,}", "b": [1]}
