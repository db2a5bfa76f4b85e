import pytest

from schedviz.engine.config import ConfigurationError, load_configuration
from schedviz.engine.config.plugin_args import NodeAffinityArgs, NodeResourcesFitArgs, ResourceSpec


def _profile(**members):
    return {"profiles": [members]}


def _args(plugin, args):
    return _profile(pluginConfig=[{"name": plugin, "args": args}])


def test_nothing_is_the_default_configuration():
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


def test_null_is_absent():
    assert load_configuration({"profiles": None, "percentageOfNodesToScore": None}) == load_configuration({})


def test_what_is_said_of_args_is_kept_and_the_rest_is_defaulted():
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
        ({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}, "apiVersion", "convert it to kubescheduler.config.k8s.io/v1"),
        ({"apiVersion": "v1"}, "apiVersion", "expected kubescheduler.config.k8s.io/v1"),
        ({"kind": "Pod"}, "kind", "expected KubeSchedulerConfiguration"),
        ({"algorithmSource": {}}, "algorithmSource", "unknown field 'algorithmSource'"),
        (_profile(plugins={"score": {"enable": []}}), "profiles[0].plugins.score.enable", "unknown field 'enable'"),
        (_profile(plugins={"score": []}), "profiles[0].plugins.score", "expected `object`, got `array`"),
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
            'Duplicate value: "profiles[0].schedulerName"',
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
        (_args("NodeAffinity", {"kind": "Other"}), "profiles[0].pluginConfig[0].args.kind", "were not of type NodeAffinityArgs, got Other"),
        (_args("NodeAffinity", {"added": {}}), "profiles[0].pluginConfig[0].args.added", "unknown field 'added'"),
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
def test_what_is_wrong_is_said_with_its_path(data, path, message):
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


def test_every_problem_is_told():
    with pytest.raises(ConfigurationError) as caught:
        load_configuration({"percentageOfNodesToScore": 101, "podInitialBackoffSeconds": 0})

    assert [problem.path for problem in caught.value.problems] == ["percentageOfNodesToScore", "podInitialBackoffSeconds"]
