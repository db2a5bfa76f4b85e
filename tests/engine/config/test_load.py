"""`load_configuration` of v1.27.1: defaults, and the problems of invalid configurations with their paths."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from schedviz.engine.config import ConfigurationError, load_configuration, strict
from schedviz.engine.config.plugin_args import NodeAffinityArgs, NodeResourcesFitArgs, ResourceSpec


def _profile(**members):
    return {"profiles": [members]}


def _args(plugin, args):
    return _profile(pluginConfig=[{"name": plugin, "args": args}])


def test_an_absent_configuration_is_the_default_one():
    configuration = load_configuration(None)

    assert [profile.scheduler_name for profile in configuration.profiles] == ["default-scheduler"]
    assert configuration.percentage_of_nodes_to_score == 0
    assert (configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds) == (1, 10)
    assert configuration.profiles[0].plugins.multi_point.enabled[0].name == "PrioritySort"
    assert [config.name for config in configuration.profiles[0].plugin_config] == [
        "DefaultPreemption",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    ]


def test_a_null_member_counts_as_absent():
    assert load_configuration({"profiles": None, "percentageOfNodesToScore": None}) == load_configuration({})


def test_given_args_are_kept_and_the_rest_get_defaults():
    configuration = load_configuration(
        _args("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu"}]}})
    )

    args = configuration.profiles[0].args("NodeResourcesFit")
    assert isinstance(args, NodeResourcesFitArgs)
    assert args.scoring_strategy.type == "MostAllocated"
    assert args.scoring_strategy.resources == (ResourceSpec("cpu", 1),)
    assert configuration.profiles[0].args("NodeAffinity") == NodeAffinityArgs()


def test_args_of_unknown_plugins_are_kept_as_they_are():
    assert load_configuration(_args("Mine", {"any": [1]})).profiles[0].args("Mine") == {"any": [1]}


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}, "apiVersion", "v1beta3 is deprecated in v1.26, will be removed in v1.29"),
        (
            {"apiVersion": "kubescheduler.config.k8s.io/v1alpha2"},
            "apiVersion",
            (
                'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1alpha2" in scheme '
                '"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:31"'
            ),
        ),
        ({"apiVersion": "v1", "kind": "Policy"}, "apiVersion", 'no kind "Policy" is registered for version "v1" in scheme'),
        ({"apiVersion": "v1"}, "apiVersion", 'no kind "KubeSchedulerConfiguration" is registered for version "v1"'),
        ({"kind": "Pod"}, "kind", 'no kind "Pod" is registered for version "kubescheduler.config.k8s.io/v1"'),
        ({"algorithmSource": {}}, "algorithmSource", 'strict decoding error: unknown field "algorithmSource"'),
        (
            _profile(plugins={"score": {"enable": []}}),
            "profiles[0].plugins.score.enable",
            'unknown field "profiles[0].plugins.score.enable"',
        ),
        (
            _profile(plugins={"score": []}),
            "profiles[0].plugins.score",
            "json: cannot unmarshal array into Go struct field Plugins.profiles.plugins.score of type v1.PluginSet",
        ),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore", "Invalid value: 101: not in valid range [0-100]"),
        (_profile(percentageOfNodesToScore=-1), "profiles[0].percentageOfNodesToScore", "Invalid value: -1: not in valid range [0-100]"),
        ({"parallelism": 0}, "parallelism", "Invalid value: 0: should be an integer value greater than zero"),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds", "Invalid value: 0: must be greater than 0"),
        (
            {"podInitialBackoffSeconds": 20},
            "podMaxBackoffSeconds",
            "Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        ({"profiles": [{}, {"schedulerName": "b"}]}, "profiles[0].schedulerName", "Required value"),
        (
            {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
            "profiles[1].schedulerName",
            "Duplicate value: profiles[0].schedulerName",
        ),
        (
            _args("NodeResourcesFit", {"scoringStrategy": {"type": "Random"}}),
            "profiles[0].pluginConfig[0].args.scoringStrategy.type",
            'Unsupported value: "Random": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
        ),
        (
            _args("NodeResourcesFit", {"ignoredResourceGroups": ["a/b"]}),
            "profiles[0].pluginConfig[0].args.ignoredResourceGroups[0]",
            "Invalid value: \"a/b\": resource group name can't contain '/'",
        ),
        (
            _args("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu", "weight": 2}]}),
            "profiles[0].pluginConfig[0].args.resources[0].weight",
            "Invalid value: 2: must be 1",
        ),
        (
            _args("InterPodAffinity", {"hardPodAffinityWeight": 101}),
            "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
            "Invalid value: 101: not in valid range [0, 100]",
        ),
        (
            _args("DefaultPreemption", {"minCandidateNodesPercentage": 101}),
            "profiles[0].pluginConfig[0].args.minCandidateNodesPercentage",
            "Invalid value: 101: not in valid range [0, 100]",
        ),
        (
            _args("PodTopologySpread", {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}]}),
            "profiles[0].pluginConfig[0].args.defaultingType",
            'Invalid value: "System": when .defaultConstraints are not empty',
        ),
        (
            _args("VolumeBinding", {"shape": [{"utilization": 0, "score": 0}]}),
            "profiles[0].pluginConfig[0].args.shape",
            "turn on the feature gate VolumeCapacityPriority",
        ),
        (_args("NodeAffinity", {"kind": "Other"}), "profiles[0].pluginConfig[0].args.kind", 'no kind "Other" is registered'),
        (
            _args("NodeAffinity", {"kind": "VolumeBindingArgs"}),
            "profiles[0].pluginConfig[0].args.kind",
            (
                "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type "
                "NodeAffinityArgs.kubescheduler.config.k8s.io, got VolumeBindingArgs.kubescheduler.config.k8s.io"
            ),
        ),
        (
            _args("NodeAffinity", {"added": {}}),
            "profiles[0].pluginConfig[0].args.added",
            (
                "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeAffinity: "
                'strict decoding error: unknown field "added"'
            ),
        ),
        (
            _profile(plugins={"score": {"enabled": [{"name": "ImageLocality", "weight": 2**31}]}}),
            "profiles[0].plugins.score.enabled[0].weight",
            "json: cannot unmarshal number 2147483648 into Go struct field Plugin.profiles.plugins.score.enabled.weight of type int32",
        ),
        ({"leaderElection": {"leaseDuration": "5 s"}}, "leaderElection.leaseDuration", 'time: unknown unit " s" in duration "5 s"'),
        ({"leaderElection": {"leaseDuration": "-1m"}}, "leaderElection.leaseDuration", "Invalid value: -1m0s: must be greater than zero"),
        (
            {"leaderElection": {"leaseDuration": "1s"}},
            "leaderElection.leaseDuration",
            "Invalid value: 10s: must be greater than `RenewDeadline`",
        ),
        ({"leaderElection": {"resourceLock": "endpoints"}}, "leaderElection.resourceLock", 'resourceLock value must be "leases"'),
        (
            {
                "profiles": [
                    {"schedulerName": "a"},
                    {"schedulerName": "b", "plugins": {"queueSort": {"enabled": [{"name": "Mine"}]}}},
                ]
            },
            "profiles[1].plugins.queueSort",
            (
                'Invalid value: config.PluginSet{Enabled:[]config.Plugin{config.Plugin{Name:"Mine", Weight:0}}, '
                "Disabled:[]config.Plugin(nil)}: has to match for all profiles"
            ),
        ),
        (
            _profile(pluginConfig=[{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]),
            "profiles[0].pluginConfig[1]",
            'Duplicate value: "NodeAffinity"',
        ),
        (
            {"extenders": [{"urlPrefix": "a", "managedResources": [{"name": "a.b/c"}]}] * 2},
            "extenders[1].managedResources[0].name",
            'Invalid value: "a.b/c": duplicate extender managed resource name',
        ),
        (
            _profile(plugins={"score": {"enabled": [{"name": "SelectorSpread"}]}}),
            "profiles[0].plugins.score.enabled[0]",
            "was invalid in version",
        ),
        ({"extenders": [{"urlPrefix": "http://e", "prioritizeVerb": "p"}]}, "extenders[0].weight", "must have a positive weight"),
        (
            {"extenders": [{"urlPrefix": "http://e", "managedResources": [{"name": "cpu"}]}]},
            "extenders[0].managedResources[0].name",
            "is an invalid extended resource name",
        ),
        ({"extenders": [{"urlPrefix": "a", "bindVerb": "b"}] * 2}, "extenders", "only one extender can implement bind"),
    ],
)
def test_problems_have_a_path(data, path, message):
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(data)

    assert caught.value.path == path
    assert message in caught.value.message


def test_a_bad_node_selector_in_added_affinity_is_found():
    terms = [{"matchExpressions": [{"key": "a", "operator": "Near"}]}]
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}

    with pytest.raises(ConfigurationError, match="matchExpressions") as caught:
        load_configuration(_args("NodeAffinity", {"addedAffinity": affinity}))

    assert caught.value.message == 'Unsupported value: "Near"'


def test_every_problem_is_reported():
    with pytest.raises(ConfigurationError) as caught:
        load_configuration({"percentageOfNodesToScore": 101, "podInitialBackoffSeconds": 0})

    assert [problem.path for problem in caught.value.problems] == ["percentageOfNodesToScore", "podInitialBackoffSeconds"]
    assert str(caught.value) == (
        "[percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], "
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0]"
    )


def test_unknown_fields_are_reported_together():
    with pytest.raises(ConfigurationError) as caught:
        load_configuration({"a": 1, "profiles": [{"b": 2}]}, duplicates=['duplicate field "parallelism"'])

    assert str(caught.value) == ('strict decoding error: duplicate field "parallelism", unknown field "a", unknown field "profiles[0].b"')


def test_an_extender_cannot_have_an_unused_root_certificate():
    tls = {"insecure": True, "caFile": "/ca.crt"}
    with pytest.raises(ConfigurationError) as caught:
        load_configuration({"extenders": [{"urlPrefix": "https://e", "weight": 1, "tlsConfig": tls}]})

    assert caught.value.path == "extenders[0].tlsConfig"
    assert str(caught.value) == ("couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed")


def test_a_resource_without_a_name_is_accepted_as_upstream_does():
    configuration = load_configuration(
        {"profiles": [{"pluginConfig": [{"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"weight": 1}]}}]}]}
    )

    assert configuration.profiles[0].args("NodeResourcesBalancedAllocation").resources[0].name == ""


def test_arguments_of_node_resources_fit_are_validated_when_the_plugin_is_created():
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(_args("NodeResourcesFit", {"scoringStrategy": {"type": "Random"}}))

    assert str(caught.value) == (
        'initializing profiles: creating profile for scheduler name default-scheduler: initializing plugin "NodeResourcesFit": '
        'scoringStrategy.type: Unsupported value: "Random": supported values: '
        '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'
    )


def test_disabled_leader_election_is_not_validated():
    off = {"leaderElect": False, "resourceLock": "endpoints", "leaseDuration": "-1s"}

    assert load_configuration({"leaderElection": off}).leader_election.leader_elect is False


def test_empty_members_get_defaults():
    configuration = load_configuration({"leaderElection": {"leaseDuration": "0s"}, "clientConnection": {"qps": 0, "burst": 0}})

    assert configuration.leader_election.lease_duration == "15s"
    assert (configuration.client_connection.qps, configuration.client_connection.burst) == (50.0, 100)


@pytest.mark.parametrize("arguments", [{}, {"args": {}}])
def test_each_type_of_arguments_is_inspected_once_however_often_a_plugin_is_configured(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    inspected: list[Any] = []

    def type_info(target: Any) -> Any:
        inspected.append(target)
        return msgspec.inspect.type_info(target)

    monkeypatch.setattr(strict, "inspect", SimpleNamespace(**{**vars(msgspec.inspect), "type_info": type_info}))
    strict._shape_of.cache_clear()
    with pytest.raises(ConfigurationError) as raised:
        load_configuration({"profiles": [{"pluginConfig": [{"name": "NodeAffinity", **arguments}] * 500}]})

    assert len(inspected) <= 2
    assert len(raised.value.problems) == 499
    message = str(raised.value)
    assert message.startswith('[profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity", ')
    assert message.endswith('profiles[0].pluginConfig[100]: Duplicate value: "NodeAffinity", and 399 more]')


def test_an_integer_beyond_64_bits_is_rejected_with_its_path_even_in_the_arguments_of_a_custom_plugin() -> None:
    args = {"rules": [{"point": "score", "score": 10**30}]}
    with pytest.raises(ConfigurationError) as raised:
        load_configuration({"profiles": [{"pluginConfig": [{"name": "Scripted", "args": args}]}]})
    assert raised.value.path == "profiles[0].pluginConfig[0].args.rules[0].score"
    assert raised.value.message == "expected an integer from -2^63 to 2^63 - 1"
