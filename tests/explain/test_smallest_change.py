"""The smallest change: every suggestion is carried out on a session, and the pod is placed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedviz.explain.changes import smallest_change
from schedviz.explain.changes.change import shell
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, do, node, pod


def whats(*objects: dict[str, object]) -> list[list[str]]:
    result = smallest_change(cluster(*objects), "default/p")
    return [[change.what for change in suggestion.changes] for suggestion in result.suggestions]


def test_a_cordoned_node_is_uncordoned_first() -> None:
    assert whats(node("n1", cordoned=True), pod("p"))[0] == ["uncordon n1"]


def test_a_smaller_request_says_why_it_is_not_that_of_a_whole_node_and_other_changes_state_their_effects() -> None:
    objects = (
        node("n1", cordoned=True),
        node("n2", taints=("gpu=true:NoSchedule",)),
        node("n3"),
        pod("a", cpu="3", on="n3"),
        pod("p", cpu="2"),
    )
    suggestions = smallest_change(cluster(*objects), "default/p").suggestions
    said = {change.kind: change.consequence for suggestion in suggestions for change in suggestion.changes}
    assert said["request"] == "no node that the pod can use has room for more now"
    assert "maintenance" in said["uncordon"]
    assert "every node with this taint" in said["toleration"]


def test_a_change_that_frees_a_host_port_names_the_pod_that_loses_it() -> None:
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 443, "hostPort": 443}]}]
    simulation = cluster(node("n1"), pod("a", on="n1", containers=containers), pod("p", containers=containers))
    said = {change.kind: change.consequence for each in smallest_change(simulation, "default/p").suggestions for change in each.changes}
    assert said["port"] == "clients can no longer reach the pod through this port of its node"


def test_the_pod_that_uses_a_host_port_is_named_before_another_node() -> None:
    def container(name: str) -> list[dict[str, Any]]:
        return [{"name": name, "image": name, "ports": [{"containerPort": 443, "hostPort": 443}]}]

    objects = [node("n1"), node("n2"), *(pod(f"old-{n}", on=f"n{n}", containers=container("old")) for n in (1, 2))]
    assert whats(*objects, pod("p", containers=container("new")))[:3] == [
        ["stop or move default/old-1, which uses the host port 443 on n1"],
        ["change or remove the host port 443"],
        ["add a node like n1"],
    ]


def test_replicas_that_use_the_same_host_port_need_another_node() -> None:
    labels = {"app": "proxy"}
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 443, "hostPort": 443}]}]
    objects = [node("n1"), pod("a", on="n1", labels=labels, containers=containers), pod("p", labels=labels, containers=containers)]
    first, *others = whats(*objects)
    assert first == ["add a node like n1"]
    assert ["change or remove the host port 443"] in others


def test_the_request_is_lowered_to_what_is_free() -> None:
    assert ["lower the CPU request of container `c` from 3 to 1.5"] in whats(node("n1"), pod("a", cpu="2500m", on="n1"), pod("p", cpu="3"))


def test_a_request_that_is_lowered_to_the_size_of_the_largest_node_needs_no_note() -> None:
    [change] = smallest_change(cluster(node("n1"), pod("p", cpu="6")), "default/p").suggestions[0].changes
    assert (change.what, change.consequence) == ("lower the CPU request of container `c` from 6 to 4", "")


def test_requests_for_cpu_and_memory_are_lowered_together() -> None:
    objects = (node("n1"), pod("a", cpu="2500m", memory="10Gi", on="n1"), pod("p", cpu="3", memory="12Gi"))
    result = smallest_change(cluster(*objects), "default/p")
    first = result.suggestions[0]
    assert [change.what for change in first.changes] == [
        "lower the requests of container `c` from 3 CPU and 12Gi of memory to 1.5 CPU and 6Gi of memory"
    ]
    assert result.tried["request"] == 1


def test_the_node_that_needs_the_smallest_reduction_is_chosen() -> None:
    objects = (node("n1", cpu="1", memory="1Gi"), node("n2", cpu="2", memory="2Gi"), pod("p", cpu="3", memory="12Gi"))
    assert whats(*objects) == [["lower the requests of container `c` from 3 CPU and 12Gi of memory to 1 CPU and 1Gi of memory"]]


def test_requests_are_not_lowered_to_nothing() -> None:
    objects = (node("n1"), pod("a", cpu="4", on="n1"), pod("p", cpu="3", memory="12Gi"))
    assert not any("request" in what for changes in whats(*objects) for what in changes)


def test_a_taint_is_tolerated_or_removed() -> None:
    result = whats(node("n1", taints=("gpu=true:NoSchedule",)), pod("p"))
    assert result[0] == ["add a toleration for the taint `gpu=true`"]
    assert ["remove the taint `gpu=true:NoSchedule` from n1"] in result


CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def test_the_taint_of_the_control_plane_is_tolerated_after_all_else_that_is_cheap() -> None:
    simulation = cluster(
        node("cp", taints=(f"{CONTROL_PLANE}=:NoSchedule",)), node("n1", cpu="2"), pod("a", cpu="1", on="n1"), pod("p", cpu="2")
    )
    suggestions = smallest_change(simulation, "default/p").suggestions
    kinds = [suggestion.changes[0].kind for suggestion in suggestions]
    assert kinds[:2] == ["request", "node"]
    assert kinds[-1] == "taint"
    [toleration] = [change for each in suggestions for change in each.changes if change.kind == "toleration"]
    assert toleration.consequence == "the pod can then also be scheduled on control-plane nodes, whose resources the control plane needs"


def test_the_only_nodes_of_a_test_cluster_may_be_those_of_the_control_plane() -> None:
    assert whats(node("cp", taints=(f"{CONTROL_PLANE}=:NoSchedule",)), pod("p"))[0] == [f"add a toleration for the taint `{CONTROL_PLANE}`"]


@pytest.mark.parametrize(
    "taint",
    [
        "eks.amazonaws.com/compute-type=fargate:NoSchedule",
        "virtual-kubelet.io/provider=azure:NoSchedule",
        "os=windows:NoSchedule",
        "ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule",
        "karpenter.sh/disrupted=:NoSchedule",
    ],
)
def test_a_taint_of_nodes_for_other_pods_is_neither_tolerated_nor_removed(taint: str) -> None:
    kinds = {change for changes in whats(node("n1", taints=(taint,)), pod("p")) for change in changes}
    assert not [what for what in kinds if "taint" in what]


def test_a_pod_that_selects_windows_may_tolerate_its_taint() -> None:
    windows = node("n1", taints=("os=windows:NoSchedule",), **{"kubernetes.io/os": "windows"})
    assert whats(windows, pod("p", nodeSelector={"kubernetes.io/os": "windows"}))[0] == ["add a toleration for the taint `os=windows`"]


def test_a_node_for_a_pinned_pod_is_added_with_the_labels_that_pin_it() -> None:
    objects = (node("n1", disk="ssd"), node("n2"), pod("a", cpu="4", on="n1"), pod("p", cpu="2", nodeSelector={"disk": "ssd"}))
    assert ["add a node like n1, with `disk=ssd`"] in whats(*objects)


def test_a_node_for_a_spread_is_added_in_the_domain_that_has_room() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    web = {"app": "web"}
    running = (pod("a", cpu="1", labels=web, on="n1"), pod("b", cpu="4", on="n2"))
    objects = (node("n1", zone="a"), node("n2", zone="b"), *running, pod("p", labels=web, topologySpreadConstraints=[spread]))
    assert ["add a node like n2, with `topology.kubernetes.io/zone=b`"] in whats(*objects)


def test_a_label_for_a_node_has_to_be_true() -> None:
    simulation = cluster(node("n1"), pod("p", nodeSelector={"disk": "ssd"}))
    said = {change.kind: change.consequence for each in smallest_change(simulation, "default/p").suggestions for change in each.changes}
    assert said["label"].startswith("the label has to be true of the node")


def test_a_toleration_can_be_copied_as_yaml() -> None:
    tainted = node("n1", taints=("gpu=true:NoSchedule",))
    suggestion = smallest_change(cluster(tainted, pod("p")), "default/p").suggestions[0]
    assert suggestion.nodes == ("n1",)
    [change] = suggestion.changes
    assert change.yaml.splitlines() == ["tolerations:", '- key: "gpu"', "  operator: Equal", '  value: "true"']


def test_no_toleration_is_suggested_for_the_taint_of_an_unhealthy_node() -> None:
    assert whats(node("n1", taints=("node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",)), pod("p")) == [
        ["add a node like n1"]
    ]


def test_recovering_an_unhealthy_node_is_suggested_first() -> None:
    simulation = cluster(node("n1", taints=("node.kubernetes.io/unreachable=:NoSchedule",)), node("n2", cpu="1"), pod("p", cpu="2"))
    first, *others = smallest_change(simulation, "default/p").suggestions
    assert [(change.what, change.kubectl) for change in first.changes] == [("make n1 `Ready` again", "kubectl describe node n1")]
    assert first.nodes == ("n1",)
    assert others
    assert "make n2 `Ready` again" not in {change.what for other in others for change in other.changes}


def test_pods_of_daemon_sets_and_of_the_system_are_never_removed() -> None:
    agent = pod("agent", cpu="3", on="n1", tolerations=[{"operator": "Exists"}])
    system = pod("dns", cpu="3", on="n2")
    system["metadata"]["namespace"] = "kube-system"
    result = whats(node("n1"), node("n2"), agent, system, pod("p", cpu="3"))
    assert not any("remove" in change for changes in result for change in changes)


def test_a_node_is_added_before_a_pod_makes_do_with_a_fraction() -> None:
    result = whats(node("n1"), pod("a", cpu="3.5", on="n1"), pod("p", cpu="2"))
    assert result.index(["add a node like n1"]) < result.index(["lower the CPU request of container `c` from 2 to 0.5"])


def test_a_missing_label_is_added_or_no_longer_required() -> None:
    result = whats(node("n1"), pod("p", nodeSelector={"disk": "ssd"}))
    assert ["label n1 with `disk=ssd`"] in result
    assert ["remove `disk=ssd` from the pod's `nodeSelector`"] in result


def test_a_label_that_replaces_another_comes_after_what_the_pod_can_do_and_has_to_be_true() -> None:
    result = whats(node("n1", disk="hdd"), node("n2", disk="ssd"), pod("p", nodeSelector={"disk": "nvme"}))
    assert result[0] == ["remove `disk=nvme` from the pod's `nodeSelector`"]
    assert ["label n1 with `disk=nvme`, if the label is accurate for that node"] in result


def test_a_mistyped_label_is_corrected_and_not_added_to_a_node() -> None:
    nodes = node("n1"), node("n2", pool="memory")
    result = whats(*nodes, pod("p", nodeSelector={"pool": "memroy"}))
    assert result[0] == ["require the node label `pool=memory` instead of `pool=memroy`, which is probably a typo"]
    assert not any(change.startswith("label ") for changes in result for change in changes)
    [change] = smallest_change(cluster(*nodes, pod("p", nodeSelector={"pool": "memroy"})), "default/p").suggestions[0].changes
    assert change.yaml == 'nodeSelector:\n  "pool": "memory"'


def test_a_mistyped_label_of_node_affinity_is_corrected() -> None:
    terms = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["memroy"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    result = whats(node("n1", pool="memory"), pod("p", affinity=affinity))
    assert result[0] == ["require the node label `pool=memory` instead of `pool=memroy`, which is probably a typo"]


def test_a_mistyped_toleration_is_called_a_typo_and_comes_first() -> None:
    typo = {"key": "nvidia.com/gpus", "operator": "Exists", "effect": "NoSchedule"}
    result = whats(node("n1", taints=("nvidia.com/gpu=present:NoSchedule",)), pod("p", tolerations=[typo]))
    assert result[0] == ["change the toleration `nvidia.com/gpus`, which is probably a typo, to `nvidia.com/gpu=present`"]


def test_a_toleration_of_another_taint_of_the_cluster_is_no_typo() -> None:
    toleration = {"key": "pool", "operator": "Equal", "value": "batch"}
    nodes = node("n1", taints=("pool=batsh:NoSchedule",)), node("n2", cpu="1", taints=("pool=batch:NoSchedule",))
    assert ["add a toleration for the taint `pool=batsh`"] in whats(*nodes, pod("p", cpu="2", tolerations=[toleration]))


def test_a_label_that_replaces_another_has_no_command_to_copy() -> None:
    simulation = cluster(node("n1", disk="hdd"), pod("p", nodeSelector={"disk": "nvme"}))
    commands = {change.kubectl for each in smallest_change(simulation, "default/p").suggestions for change in each.changes}
    assert commands == {""}


def test_pods_are_removed_or_a_node_is_added() -> None:
    result = whats(node("n1"), pod("a", cpu="4", on="n1"), pod("p", cpu="2"))
    assert result == [["add a node like n1"], ["remove default/a from n1"]]


def test_two_changes_are_suggested_if_one_is_not_enough() -> None:
    result = whats(node("n1", cpu="1"), pod("p", cpu="2", nodeSelector={"disk": "ssd"}))
    assert result
    assert all(len(changes) == 2 for changes in result)
    assert {"label n1 with `disk=ssd`", "lower the CPU request of container `c` from 2 to 1"} in [set(changes) for changes in result]


def test_no_change_is_suggested_if_none_helps() -> None:
    other = {"kubernetes.io/arch": "s390x"}
    result = smallest_change(cluster(node("n1", **{"kubernetes.io/arch": "amd64"}), pod("p", nodeSelector=other)), "default/p")
    assert result.suggestions == ()
    assert result.sentence == "More nodes like the existing ones would not make default/p schedulable."
    assert result.dry_runs == 1


def test_a_pod_that_fits_needs_no_change() -> None:
    result = smallest_change(cluster(node("n1"), pod("p")), "default/p")
    assert result.suggestions == ()
    assert result.sentence.startswith("Nothing has to change")


def test_the_search_leaves_the_session_unchanged() -> None:
    simulation = cluster(node("n1", taints=("gpu=true:NoSchedule",)), node("n2"), pod("a", cpu="3", on="n2"), pod("p", cpu="2"))
    before = why_pending(simulation, "default/p")
    smallest_change(simulation, "default/p")
    after = why_pending(simulation, "default/p")
    assert {verdict.node: verdict for verdict in before.matrix} == {verdict.node: verdict for verdict in after.matrix}


@pytest.mark.parametrize("name", ["n1", "n 1; touch x"])
def test_commands_can_be_pasted_whatever_the_names_are(name: str) -> None:
    result = smallest_change(cluster(node(name, cordoned=True), pod("p")), "default/p")
    quoted = name if name == "n1" else f"'{name}'"
    assert result.suggestions[0].changes[0].kubectl == f"kubectl uncordon {quoted}"


def test_suggested_changes_of_nodes_place_the_pod_when_they_are_made() -> None:
    simulation = cluster(node("n1", cordoned=True), pod("p"))
    assert whats(node("n1", cordoned=True), pod("p"))[0] == ["uncordon n1"]
    do(simulation, "run")
    do(simulation, "cordon", node="n1", on=False)
    do(simulation, "advance", seconds=2)
    do(simulation, "run")
    assert why_pending(simulation, "default/p").node == "n1"


@pytest.mark.parametrize(
    "objects",
    [
        [node("n1", cordoned=True), pod("p")],
        [node("n1"), pod("a", cpu="2500m", on="n1"), pod("p", cpu="3")],
        [node("n1", taints=("gpu=true:NoSchedule",)), pod("p", nodeSelector={"disk": "ssd"})],
        [node("n1"), pod("a", cpu="4", on="n1"), pod("p", cpu="2")],
    ],
    ids=["cordoned", "full", "two changes", "victims"],
)
def test_the_commands_of_a_suggestion_place_the_pod_on_a_node_that_it_names(objects: list[dict[str, object]]) -> None:
    for suggestion in smallest_change(cluster(*objects), "default/p").suggestions:
        simulation = cluster(*objects)
        do(simulation, "run")
        for command in suggestion.commands:
            do(simulation, **msgspec.to_builtins(command))
        do(simulation, "advance", seconds=60)
        do(simulation, "run")
        assert why_pending(simulation, "default/p").node in suggestion.nodes, suggestion.changes


def profile(plugin: str, args: dict[str, object] | None = None, **plugins: object) -> dict[str, object]:
    """A configuration in which a plugin has arguments, or extension points have other plugins."""
    config = [] if args is None else [{"name": plugin, "args": args}]
    return {"profiles": [{"schedulerName": "default-scheduler", "plugins": plugins, "pluginConfig": config}]}


REQUIRED = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["web"]}]}]}
ADDED = profile("NodeAffinity", {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": REQUIRED}})
SPREAD = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
DEFAULTS = profile("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [SPREAD]})
SCRIPTED = profile(
    "Scripted",
    {"rules": [{"point": "filter", "nodes": ["n1"], "code": "Unschedulable", "reasons": ["not on my node"]}]},
    multiPoint={"enabled": [{"name": "Scripted"}]},
)
#: A service selects pods, so that default constraints hold for them.
WEB = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}},
}


@pytest.mark.parametrize(
    ("config", "objects", "what"),
    [
        (ADDED, [node("n1"), pod("p")], "remove `addedAffinity` from the arguments of `NodeAffinity` in the profile `default-scheduler`"),
        (
            DEFAULTS,
            [
                *(node("n1"), node("n2", zone="b", cpu="100m"), WEB),
                *(pod("w", labels={"app": "web"}, on="n1"), pod("p", labels={"app": "web"})),
            ],
            (
                "set `whenUnsatisfiable: ScheduleAnyway` in the default topology spread constraint for "
                "`topology.kubernetes.io/zone` in the profile `default-scheduler`"
            ),
        ),
        (SCRIPTED, [node("n1"), pod("p")], "disable the plugin `Scripted` in the profile `default-scheduler`"),
    ],
    ids=["addedAffinity", "default constraints", "a plugin of one's own"],
)
def test_an_argument_of_a_plugin_is_changed_and_places_the_pod_when_it_is(
    config: dict[str, object], objects: list[dict[str, object]], what: str
) -> None:
    simulation = cluster(*objects, config=config)
    result = smallest_change(simulation, "default/p")
    (suggestion,) = [suggestion for suggestion in result.suggestions if [change.kind for change in suggestion.changes] == ["plugin"]]
    assert suggestion.changes[0].what == what
    assert simulation.config == config, "The session is as it was."
    do(simulation, "run")
    for command in suggestion.commands:
        do(simulation, **msgspec.to_builtins(command))
    do(simulation, "advance", seconds=400)
    do(simulation, "run")
    assert why_pending(simulation, "default/p").node in suggestion.nodes


def test_enabling_preemption_is_suggested_if_it_would_make_room() -> None:
    off = profile("", postFilter={"disabled": [{"name": "*"}]})
    simulation = cluster(node("n1"), pod("low", cpu="4", on="n1", priority=0), pod("p", cpu="2", priority=10), config=off)
    (suggestion,) = [suggestion for suggestion in smallest_change(simulation, "default/p").suggestions if suggestion.effect == "makesRoom"]
    assert suggestion.changes[0].what == "enable the plugin `DefaultPreemption` in the profile `default-scheduler`"
    assert (suggestion.fits, suggestion.nodes) == (0, ("n1",))


def test_an_argument_and_a_change_of_the_pod_make_a_pair() -> None:
    result = smallest_change(cluster(node("n1", cpu="1"), pod("p", cpu="2"), config=ADDED), "default/p")
    assert {"plugin", "request"} in [{change.kind for change in suggestion.changes} for suggestion in result.suggestions]


def test_the_text_claims_only_what_was_tried() -> None:
    tainted = node("n1", taints=("gpu=true:NoSchedule",))
    result = smallest_change(cluster(tainted, pod("a", cpu="4", on="n1"), pod("p", cpu="8")), "default/p")
    assert result.suggestions == ()
    assert result.sentence.startswith(f"schedviz tried {result.dry_runs} changes, none of which makes default/p schedulable: ")
    assert "more nodes" in result.sentence
    assert "two of these together" in result.sentence
    assert result.tried.keys() == {"toleration", "taint", "node"}


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
def test_a_toleration_is_suggested_in_both_releases(release: str) -> None:
    simulation = cluster(node("n1", taints=("gpu=true:NoSchedule",)), pod("p"), release=release)
    result = smallest_change(simulation, "default/p")
    assert result.suggestions[0].changes[0].what == "add a toleration for the taint `gpu=true`"


def test_a_name_that_looks_like_a_flag_is_not_one_in_the_command() -> None:
    assert shell("kubectl", "delete", "pod", "-n", "default", names=["--all"]) == "kubectl delete pod -n default -- --all"
    assert shell("kubectl", "label", "node", names=["-l", "a=b"], flags=["--overwrite"]) == "kubectl label node --overwrite -- -l a=b"
    assert shell("kubectl", "label", "node", names=["n", "a=$(b)"], flags=["--overwrite"]) == "kubectl label node n 'a=$(b)' --overwrite"


def test_another_node_comes_before_the_toleration_of_a_pool_that_the_pod_does_not_ask_for() -> None:
    full, pool = node("n1"), node("n2", taints=("dedicated=ingress:NoSchedule",))
    simulation = cluster(full, pool, pod("a", cpu="4", on="n1"), pod("p", cpu="2"))
    whats = [suggestion.changes[0].what for suggestion in smallest_change(simulation, "default/p").suggestions]
    assert whats.index("add a node like n1") < whats.index("add a toleration for the taint `dedicated=ingress`")


def owned(by: str, obj: dict[str, Any]) -> dict[str, Any]:
    """The pod with a controller."""
    obj["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": by, "name": "owner", "uid": "owner", "controller": True}]
    return obj


def test_the_architecture_that_nodes_have_is_offered_and_a_pod_is_never_placed_on_machines_of_another() -> None:
    nodes = [node("n1", **{"kubernetes.io/arch": "amd64"}), node("n2", **{"kubernetes.io/arch": "arm64"})]
    assert whats(*nodes, pod("p", nodeSelector={"kubernetes.io/arch": "arm"})) == [
        ["require the node label `kubernetes.io/arch=arm64` instead of `kubernetes.io/arch=arm`, which is probably a typo"]
    ]
    assert whats(*nodes, pod("p", nodeSelector={"kubernetes.io/arch": "s390x"})) == []
    in_affinity = {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [in_affinity]}}
    assert whats(*nodes, pod("p", affinity={"nodeAffinity": required})) == []


def test_a_pod_of_a_daemon_set_stays_on_its_node_and_moving_another_pod_comes_before_a_change_of_all_its_pods() -> None:
    for_n1 = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [for_n1]}}
    agent = owned("DaemonSet", pod("p", cpu="2", affinity={"nodeAffinity": required}))
    others = [owned("ReplicaSet", pod("a", cpu="3", on="n1"))]
    suggestions = smallest_change(cluster(node("n1"), node("n2"), *others, agent), "default/p").suggestions
    assert [(change.what, change.consequence) for suggestion in suggestions for change in suggestion.changes] == [
        ("remove default/a from n1", "its controller recreates it, and the new pod needs room on another node"),
        ("lower the CPU request of container `c` from 2 to 1", "the change applies to the DaemonSet's pods on all nodes"),
    ]


def test_a_pod_without_a_controller_is_not_created_again_after_its_removal() -> None:
    suggestions = smallest_change(cluster(node("n1"), pod("a", cpu="3", on="n1"), pod("p", cpu="2")), "default/p").suggestions
    said = {change.kind: change.consequence for suggestion in suggestions for change in suggestion.changes}
    assert said["victim"] == "it has no controller that would recreate it"


def test_no_node_is_added_for_a_claim_that_does_not_exist() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    result = smallest_change(cluster(node("n1"), node("n2", cpu="8"), pod("p", volumes=volumes)), "default/p")
    assert (result.dry_runs, result.suggestions) == (0, ())
