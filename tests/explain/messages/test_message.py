"""Texts of FitErrors, of this version and of others, are read back into clauses."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message, with_nodes
from schedviz.explain.messages.parsed_message import NotAMessageError, one_full_stop
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, node, pod

TEXT = (
    "Warning  FailedScheduling  12s  default-scheduler  0/7 nodes are available: 1 node(s) had untolerated taint {gpu: true}, "
    "2 node(s) were unschedulable, 4 Insufficient cpu. preemption: 0/7 nodes are available: 3 Preemption is not helpful for scheduling, "
    "4 No preemption victims found for incoming pod."
)


def test_clauses_have_their_plugins_and_meanings() -> None:
    message = parse_message(TEXT)
    assert message.nodes == 7
    assert [(clause.count, clause.plugin) for clause in message.clauses] == [
        (4, "NodeResourcesFit"),
        (2, "NodeUnschedulable"),
        (1, "TaintToleration"),
    ]
    assert message.clauses[-1].meaning == "the pod does not tolerate the taint `gpu: true`"
    assert [(clause.count, clause.reason) for clause in message.preemption] == [
        (3, "Preemption is not helpful for scheduling"),
        (4, "No preemption victims found for incoming pod"),
    ]
    assert message.unaccounted == 0


def test_line_breaks_of_a_terminal_are_ignored() -> None:
    assert parse_message(TEXT.replace(" nodes", "\n    nodes")) == parse_message(TEXT)


def test_a_message_of_pre_filter_is_a_clause_about_all_nodes() -> None:
    message = parse_message(
        "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 x."
    )
    assert [(clause.count, clause.reason, clause.plugin) for clause in message.clauses] == [
        (2, "pod has unbound immediate PersistentVolumeClaims", "VolumeBinding")
    ]
    assert (message.pre_filter, message.unaccounted) == ("", 0)


def test_a_message_of_an_unknown_pre_filter_plugin_is_kept() -> None:
    message = parse_message("0/2 nodes are available: the quota of team a is used up.")
    assert (message.pre_filter, message.clauses) == ("the quota of team a is used up", ())


def test_a_reason_that_no_default_plugin_gives_is_shown_as_unknown() -> None:
    [clause] = parse_message("0/3 nodes are available: 3 the moon is wrong.").clauses
    assert (clause.count, clause.reason, clause.plugin) == (3, "the moon is wrong", "")
    assert "no default plugin" in clause.meaning


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0/6 nodes are available: 5 node(s) didn't match node selector.", "kubernetes issue 91601"),
        ("0/6 nodes are available: 1 Insufficient cpu.", "That is normal for a pod that is limited to certain nodes"),
        ("0/6 nodes are available: 1 Insufficient cpu, 2", "An event has"),
        ("0/6 nodes are available:", "The text is"),
        ("0/6 nodes are available: 6 Insufficient cpu.", ""),
        ("0/6 nodes are available: 6 Insufficient cpu, 2 Insufficient memory.", ""),
        ("0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims.", ""),
    ],
)
def test_nodes_without_a_reason_are_a_finding(text: str, says: str) -> None:
    finding = parse_message(text).finding
    assert says in finding
    assert bool(finding) == bool(says)


def test_the_reason_why_preemption_was_not_tried_is_shown() -> None:
    [clause] = parse_message(
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
    ).preemption
    assert (clause.count, clause.plugin) == (0, "DefaultPreemption")


def test_notes_before_preemption_are_not_reasons() -> None:
    message = parse_message(
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    assert [clause.plugin for clause in message.clauses] == ["DynamicResources"]
    assert [clause.count for clause in message.preemption] == [1]


@pytest.mark.parametrize(
    ("text", "plugins"),
    [
        (
            "No nodes are available that match all of the following predicates:: Insufficient cpu (9), MatchNodeSelector (18).",
            [(9, "NodeResourcesFit"), (18, "NodeAffinity")],
        ),
        (
            "pod (a) failed to fit in any node fit failure summary on nodes : Insufficient pods (2), PodToleratesNodeTaints (1)",
            [(2, "NodeResourcesFit"), (1, "TaintToleration")],
        ),
        (
            "pod (a) failed to fit in any node fit failure on node (n1): Insufficient cpu fit failure on node (n2): Insufficient cpu",
            [(2, "NodeResourcesFit")],
        ),
        ('running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition', [(0, "VolumeBinding")]),
        ("2 Insufficient cpu, 1 node(s) were unschedulable", [(2, "NodeResourcesFit"), (1, "NodeUnschedulable")]),
        ("node(s) had volume node affinity conflict", [(0, "VolumeBinding")]),
    ],
)
def test_messages_without_a_count_of_nodes_are_read(text: str, plugins: list[tuple[int, str]]) -> None:
    message = parse_message(text)
    assert message.nodes == 0
    assert [(clause.count, clause.plugin) for clause in message.clauses] == plugins


def test_a_text_that_was_cut_says_how_many_nodes_are_missing() -> None:
    assert parse_message("0/9 nodes are available: 4 Insufficient cpu, 2 node(s) had ...").unaccounted == 5


def test_messages_of_older_releases_are_read() -> None:
    message = parse_message("0/5 nodes are available: 5 Insufficient cpu, 2 Insufficient memory.")
    assert [clause.count for clause in message.clauses] == [5, 2]
    assert message.unaccounted == -2


def test_the_nodes_of_a_clause_are_those_with_its_reason_now() -> None:
    simulation = cluster(node("n1", cordoned=True), node("n2", cpu="1"), pod("p", cpu="2"))
    message = parse_message("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")
    clauses = with_nodes(message.clauses, why_pending(simulation, "default/p").matrix)
    assert [clause.nodes for clause in clauses] == [("n2",), ("n1",)]
    assert clauses[1].advice == "when the maintenance is finished, run `kubectl uncordon n1`"


def test_recovering_nodes_is_suggested_before_relaxing_a_constraint_between_pods() -> None:
    message = parse_message(
        "0/6 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }, 2 node(s) were unschedulable, "
        "3 node(s) didn't match pod anti-affinity rules."
    )
    assert [clause.plugin for clause in message.clauses] == ["NodeUnschedulable", "TaintToleration", "InterPodAffinity"]
    assert message.first.endswith("and uncordon those whose maintenance is finished")


def test_the_command_that_uncordons_names_the_nodes_that_are_known() -> None:
    simulation = cluster(node("n1", cordoned=True), node("n2", cordoned=True), pod("p"))
    [known] = why_pending(simulation, "default/p").clauses
    [unknown] = parse_message("0/2 nodes are available: 2 node(s) were unschedulable.").clauses
    assert "`kubectl uncordon n1 n2`" in known.advice
    assert "NODE" not in unknown.advice


def test_all_messages_of_the_engine_are_parsed() -> None:
    simulation = cluster(node("n1", cordoned=True), node("n2", cpu="1"), node("n3", taints=("a=b:NoSchedule",)), pod("p", cpu="2"))
    explanation = why_pending(simulation, "default/p")
    parsed = parse_message(explanation.message)
    assert [(clause.count, clause.reason, clause.plugin) for clause in parsed.clauses] == [
        (clause.count, clause.reason, clause.plugin) for clause in explanation.clauses
    ]


@pytest.mark.parametrize("text", ["", "all is well", "nodes are available", "\0" * 50_000])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(NotAMessageError):
        parse_message(text)


def test_a_reason_of_preemption_that_the_terminal_cut_is_completed() -> None:
    cut = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming p"
    [clause] = parse_message(cut).preemption
    assert (clause.reason, clause.plugin) == ("No preemption victims found for incoming pod", "DefaultPreemption")


def test_volumes_that_were_not_provisioned_in_time_lead_to_the_claim_and_its_provisioner() -> None:
    message = (
        'error while running "VolumeBinding" prebind plugin for pod "redis-0": Failed to bind volumes: timed out waiting for the condition'
    )
    [clause] = parse_message(message).clauses
    assert (clause.plugin, "kubectl describe pvc" in clause.advice) == ("VolumeBinding", True)


def test_the_cluster_autoscalers_reason_for_each_node_group_is_explained() -> None:
    message = parse_message(
        "pod didn't trigger scale-up: 1 max node group size reached, 2 node(s) had untolerated taint {gpu: present}, "
        "1 in backoff after failed scale-up"
    )

    whole, *groups = message.clauses
    assert (whole.reason, whole.advice) == ("pod didn't trigger scale-up", "")
    assert [(clause.count, clause.reason) for clause in groups] == [
        (0, "1 max node group size reached"),
        (0, "1 in backoff after failed scale-up"),
        (0, "2 node(s) had untolerated taint {gpu: present}"),
    ]
    assert {clause.plugin for clause in message.clauses} == {"cluster-autoscaler"}
    assert groups[0].advice == "Raise the maximum size of a node group that can run the pod"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 3 max node group size reached",
            "3 max node group size reached",
        ),
        ("pod didn't trigger scale-up: 1 max cluster cpu, memory limit reached", "1 max cluster cpu, memory limit reached"),
        ("pod didn't trigger scale-up: 2 not ready for scale-up", "2 not ready for scale-up"),
    ],
)
def test_every_wording_of_the_cluster_autoscaler_has_an_advice(text: str, reason: str) -> None:
    _, clause = parse_message(text).clauses
    assert clause.reason == reason
    assert clause.advice


def test_a_message_to_show_ends_with_one_full_stop() -> None:
    assert [one_full_stop(text) for text in ("no..", "no.", "cut...")] == ["no.", "no.", "cut..."]


CONTROL_PLANE = "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
BROKEN = "1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }"


@pytest.mark.parametrize(
    ("said", "headline"),
    [
        (
            f"0/6 nodes are available: 3 Insufficient cpu, {CONTROL_PLANE}.",
            "none of the 3 worker nodes has enough free CPU",
        ),
        (
            f"0/4 nodes are available: 1 Insufficient cpu, {CONTROL_PLANE}.",
            "the only worker node does not have enough free CPU",
        ),
    ],
)
def test_the_only_reason_of_the_nodes_that_run_pods_says_so_once(said: str, headline: str) -> None:
    message = parse_message(said)
    assert (message.conclusion, message.first) == ("", "")
    assert [clause.headline for clause in message.clauses] == [headline, "3 nodes are reserved for the control plane"]
    assert message.clauses[0].advice.startswith("add a node, or lower the ")


def test_a_reason_of_some_of_the_nodes_that_run_pods_does_not_speak_of_all() -> None:
    message = parse_message(f"0/9 nodes are available: 3 Insufficient cpu, {CONTROL_PLANE}.")
    assert message.clauses[0].headline == "3 nodes do not have enough free CPU"


def test_a_message_that_leaves_several_possibilities_does_not_choose_one() -> None:
    tainted = "1 node(s) had untolerated taint {team: a}"
    message = parse_message(f"0/6 nodes are available: {tainted}, 2 node(s) didn't match pod anti-affinity rules, {CONTROL_PLANE}.")
    assert message.conclusion == (
        "None of the 6 nodes can run the pod: 2 run pods that conflict with this pod's anti-affinity rules, 1 has the untolerated taint `team=a`, and 3 are reserved for the control plane."
    )
    assert [clause.is_aside for clause in message.clauses] == [False, False, True]


def test_a_node_that_comes_back_is_tried_before_other_pods_change() -> None:
    for reason in ("2 Insufficient cpu", "2 node(s) didn't match pod anti-affinity rules"):
        message = parse_message(f"0/6 nodes are available: {BROKEN}, {reason}, {CONTROL_PLANE}.")
        assert message.first.startswith("find the node with `kubectl get nodes | grep NotReady`")


def test_a_daemon_sets_pod_is_rejected_by_its_own_node_only() -> None:
    message = parse_message(
        "0/5 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 4 node(s) didn't satisfy plugin(s) "
        "[NodeAffinity]."
    )
    assert [(clause.plugin, clause.is_aside) for clause in message.clauses] == [("NodePorts", False), ("NodeAffinity", True)]
    assert message.first.startswith("find the pod that uses the port")


def test_preemptions_own_reason_is_that_of_a_node_without_its_lesser_pods() -> None:
    [clause] = parse_message(
        "0/8 nodes are available: 8 Insufficient memory. preemption: 0/8 nodes are available: 8 Insufficient memory."
    ).preemption
    assert clause.meaning == "even after evicting lower-priority pods, 8 nodes do not have enough free memory"


def test_an_unreachable_webhook_is_named_with_its_service() -> None:
    [clause] = parse_message(
        'Error creating: Internal error occurred: failed calling webhook "m.kyverno.svc": failed to call webhook: '
        'Post "https://kyverno-svc.kyverno.svc:443/mutate?timeout=10s": no endpoints available for service "kyverno-svc"'
    ).clauses
    assert clause.headline.endswith('does not respond: no endpoints available for service "kyverno-svc"')
    assert clause.advice == "make sure that the pods of its service kyverno-svc are running: `kubectl get pods,endpoints -n kyverno`"


def test_the_broken_node_of_a_volume_is_repaired_first() -> None:
    message = parse_message(f"0/7 nodes are available: {BROKEN}, {CONTROL_PLANE}, 3 node(s) had volume node affinity conflict.")
    assert message.first.startswith("find the node with `kubectl get nodes | grep NotReady`")


def test_nodes_that_the_pod_does_not_select_are_not_offered() -> None:
    message = parse_message("0/5 nodes are available: 1 Insufficient nvidia.com/gpu, 4 node(s) didn't match Pod's node affinity/selector.")
    assert message.first.startswith("run `kubectl describe node` for each node that should offer `nvidia.com/gpu`. If")


def test_a_reason_of_the_scheduler_for_a_node_group_is_about_new_nodes() -> None:
    message = parse_message(
        "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector, 2 max node group size reached"
    )
    assert [clause.headline for clause in message.clauses[1:]] == [
        "2 node groups are at their maximum size",
        "2 node groups do not match the pod's node selector or affinity",
    ]


def test_an_uninitialized_node_is_attributed_to_the_cloud_provider_and_not_to_its_kubelet() -> None:
    [clause] = parse_message(
        "0/3 nodes are available: 3 node(s) had untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}."
    ).clauses
    assert clause.headline.startswith(
        "none of the 3 nodes has been initialized by the cloud provider (`node.cloudprovider.kubernetes.io/uninit"
    )
    assert "cloud-controller-manager" in clause.advice
    assert "kubelet" not in clause.advice


KARPENTER = (
    'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"180m"}, no instance type satisfied resources '
    '{"cpu":"96","memory":"2Gi"} and requirements karpenter.sh/nodepool In [default] (no instance type has enough resources); incompatible '
    'with nodepool "gpu", daemonset overhead={}, did not tolerate taint nvidia.com/gpu=true:NoSchedule; all available instance types exceed '
    'limits for nodepool: "spot"'
)


def test_the_missing_architecture_of_a_nodepool_is_explained() -> None:
    said = "key kubernetes.io/arch, kubernetes.io/arch In [amd64] not in kubernetes.io/arch In [arm64]"
    message = parse_message(f'Failed to schedule pod, incompatible with nodepool "general", incompatible requirements, {said}')
    assert [clause.headline for clause in message.clauses] == [
        "the pod requires `kubernetes.io/arch=amd64`, but NodePool `general` provides `arm64`"
    ]


def test_karpenters_reason_for_each_nodepool_is_a_clause() -> None:
    message = parse_message(KARPENTER)
    assert [clause.headline for clause in message.clauses] == [
        "another node would exceed the limits of NodePool `spot`",
        "no instance type in NodePool `default` provides what the pod and the DaemonSet pods of a node need (96 CPU, 2Gi memory)",
        "NodePool `gpu` has the taint `nvidia.com/gpu=true:NoSchedule`, which the pod does not tolerate",
    ]
    assert message.clauses[0].advice.startswith("If the pod belongs in NodePool `spot`, raise its `spec.limits`. ")
    assert {clause.plugin for clause in message.clauses} == {"karpenter"}


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            (
                'Error creating: pods "web-5f-x" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=9, '
                "limited: requests.cpu=10"
            ),
            "the quota `compute` allows requests.cpu=10; requests.cpu=9 is in use, and the pod requests requests.cpu=2",
        ),
        (
            'Error creating: pods "web-5f-x" is forbidden: failed quota: compute: must specify limits.cpu for: app; limits.memory for: app',
            "the quota `compute` requires each container to specify limits.cpu, limits.memory",
        ),
        (
            'Error creating: pods "web-5f-x" is forbidden: maximum cpu usage per Container is 2, but limit is 4',
            "a LimitRange of the namespace does not allow it (maximum cpu usage per Container is 2, but limit is 4)",
        ),
        (
            'Error creating: pods "web-5f-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true',
            'it would violate the Pod Security level "restricted:latest" of its namespace (runAsNonRoot != true)',
        ),
        (
            'Error creating: admission webhook "policy.example.com" denied the request: no latest tag',
            'the admission webhook "policy.example.com" denies the request (no latest tag)',
        ),
        (
            'Error creating: Internal error occurred: failed calling webhook "policy.example.com": failed to call webhook: connection refused',
            'the admission webhook "policy.example.com" does not respond (failed to call webhook: connection refused)',
        ),
        (
            'Error creating: pods "web-5f-x" is forbidden: error looking up service account shop/web: serviceaccount "web" not found',
            "the service account `shop/web` does not exist",
        ),
        (
            'Error creating: pods "web-5f-x" is forbidden: no PriorityClass with name high was found',
            "the PriorityClass `high` does not exist",
        ),
        ("Error creating: etcdserver: request timed out", "etcdserver: request timed out"),
    ],
)
def test_why_pods_were_not_created_is_explained(text: str, headline: str) -> None:
    [clause] = parse_message(text).clauses
    assert clause.headline == f"no pod is created: {headline}"
    assert (clause.plugin, bool(clause.advice)) == ("kube-apiserver", True)


def test_a_message_of_one_reason_or_of_an_unknown_one_needs_no_conclusion() -> None:
    assert parse_message("0/2 nodes are available: 2 Insufficient cpu.").conclusion == ""
    assert parse_message("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were in a mood.").conclusion == ""


def test_nodes_where_the_volume_is_not_come_last_if_a_later_filter_rejected_others() -> None:
    message = parse_message(
        "0/12 nodes are available: 2 node(s) were unschedulable, 4 node(s) didn't match pod anti-affinity rules, "
        "6 node(s) had volume node affinity conflict."
    )
    assert [(clause.count, clause.is_aside) for clause in message.clauses] == [(2, False), (4, False), (6, False)]
    assert message.first.startswith("list the cordoned nodes")


def test_a_word_that_a_terminal_broke_is_read() -> None:
    broken = "0/2 nodes are available: 2 node(s) were unsched ulable. preemption: 0/2 nodes are available: "
    message = parse_message(f"{broken}2 No preemption vic tims found for incoming pod.")
    assert [clause.reason for clause in message.clauses] == ["node(s) were unschedulable"]
    assert [clause.reason for clause in message.preemption] == ["No preemption victims found for incoming pod"]


def test_the_end_of_a_message_about_claims_is_not_a_separate_reason() -> None:
    message = parse_message("0/7 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found")
    assert [clause.reason for clause in message.clauses] == ["pod has unbound immediate PersistentVolumeClaims"]


def test_no_toleration_is_suggested_for_the_startup_taint_of_an_agent() -> None:
    [clause] = parse_message("0/1 nodes are available: 1 node(s) had untolerated taint {node.cilium.io/agent-not-ready: }.").clauses
    assert clause.headline == "the only node has no ready node.cilium.io agent"
    assert "toleration" not in clause.advice


def test_a_truncated_reason_at_the_end_of_a_text_is_not_a_reason() -> None:
    cut = "nodes are available: 1 node(s) had untolerated taint {a/issue: 1}, 1 node(s) had untolerated taint {a/issue: 2}, 1 node(s) had untolerated taint {a/re ..."
    message = parse_message(f"0/521 {cut}")
    assert [clause.plugin for clause in message.clauses] == ["TaintToleration", "TaintToleration"]
    assert message.unaccounted == 519
    # Advice for a few nodes is none for a pod whose decisive reason is missing.
    assert [clause.advice for clause in message.clauses] == ["", ""]
    assert message.first == "read the whole message: `kubectl get pod -o json | grep 'nodes are available'`"
    assert message.conclusion == "The text is cut off after the reasons for 2 of the 521 nodes, so the main reason is probably missing."
    assert parse_message(f"0/3 {cut}").clauses[0].advice


def test_the_names_of_predicates_are_read_in_messages_that_count_nodes() -> None:
    message = parse_message("0/4 nodes are available: 1 Insufficient cpu, 1 NodeUnschedulable, 3 MatchNodeSelector.")
    assert {clause.reason for clause in message.clauses} == {
        "Insufficient cpu",
        "node(s) were unschedulable",
        "node(s) didn't match node selector",
    }


def test_what_a_terminal_shows_after_a_cut_reason_of_preemption_is_left_out() -> None:
    [clause] = parse_message(
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for sched [root@a]# ls uling."
    ).preemption
    assert clause.reason == "Preemption is not helpful for scheduling"


def test_words_after_a_reason_without_its_message_are_left_out() -> None:
    [clause] = parse_message("1 node(s) had volume node affinity conflict minikube").clauses
    assert (clause.count, clause.reason) == (1, "node(s) had volume node affinity conflict")


def test_the_advice_about_one_node_is_in_the_singular() -> None:
    def advice(said: str) -> str:
        return parse_message(f"0/2 nodes are available: {said}.").clauses[0].advice

    assert advice("1 node(s) were unschedulable").startswith("find the cordoned node with")
    assert advice("2 node(s) were unschedulable").startswith("list the cordoned nodes with")
    assert advice("1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }").endswith("then recover or replace it")


@pytest.mark.parametrize(
    "said",
    [
        'rejected by "coscheduling" at prefilter: less than minAvailable',
        "pre-filter pod web-0 cannot find enough sibling pods, current pods number: 1, minMember of group: 2",
        "pod with pgName: shop/web last failed in 3s, deny",
    ],
)
def test_coscheduling_holds_a_pod_back_for_its_group(said: str) -> None:
    [clause] = parse_message(said).clauses
    assert clause.plugin == "Coscheduling"
    assert clause.advice.startswith("check the group and its pods")


def test_a_plugin_that_rejects_a_pod_is_named() -> None:
    [clause] = parse_message('rejected by "quota" at prefilter: too much').clauses
    assert clause.headline == "the plugin quota rejected the pod at prefilter: too much"


@pytest.mark.parametrize(
    ("reason", "headline"),
    [
        ("Preemption is not helpful for scheduling", "evicting pods on 9 nodes would not help"),
        ("No preemption victims found for incoming pod", "9 nodes run no lower-priority pods whose eviction would make room"),
    ],
)
def test_the_result_of_preemption_counts_its_nodes(reason: str, headline: str) -> None:
    message = parse_message(f"0/9 nodes are available: 9 Insufficient cpu. preemption: 0/9 nodes are available: 9 {reason}.")
    [clause] = message.preemption
    assert clause.headline == headline


@pytest.mark.parametrize(
    ("reason", "conclusion"),
    [
        (
            "node(s) didn't match pod topology spread constraints",
            ("None of the 5 nodes can run the pod: 3 do not satisfy the pod's topology spread constraints and 2 are cordoned."),
        ),
        (
            "node(s) didn't have free ports for the requested pod ports",
            "None of the 5 nodes can run the pod: 3 already use the pod's host port and 2 are cordoned.",
        ),
        (
            "node(s) had untolerated taint {ToBeDeletedByClusterAutoscaler: 1713}",
            "None of the 5 nodes can run the pod: 3 are being removed by the cluster autoscaler and 2 are cordoned.",
        ),
        (
            "node(s) didn't match the requested hostname",
            (
                "The pod is pinned to one node (`spec.nodeName`), so only what rejects that node matters. Of the 5 nodes, 3 do not match the "
                "node name in the pod's spec and 2 are cordoned."
            ),
        ),
    ],
)
def test_a_conclusion_says_what_each_number_of_nodes_means(reason: str, conclusion: str) -> None:
    message = parse_message(f"0/5 nodes are available: 2 node(s) were unschedulable, 3 {reason}.")
    assert message.conclusion == conclusion


def test_a_pod_that_is_pinned_by_its_node_name_is_not_helped_by_more_nodes() -> None:
    message = parse_message("0/9 nodes are available: 1 Too many pods, 5 node(s) didn't match the requested hostname, 3 Insufficient cpu.")
    assert message.first == "resolve what rejects that node, or remove `spec.nodeName` from the pod"
    assert not any("add a node" in clause.advice for clause in message.clauses)


def test_the_control_plane_is_for_pods_that_tolerate_its_taint() -> None:
    [clause] = parse_message("0/1 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.").clauses
    assert clause.advice == (
        "if the pod belongs on the control plane, add a toleration for `node-role.kubernetes.io/control-plane`; in a single-node cluster, "
        "remove the taint"
    )


def test_a_message_with_a_redacted_number_of_nodes_is_read() -> None:
    message = parse_message("0/xx nodes are available: 3 Insufficient cpu, x node(s) were unschedulable.")
    assert [(clause.count, clause.reason) for clause in message.clauses] == [
        (3, "Insufficient cpu"),
        (0, "node(s) were unschedulable"),
    ]
    assert (message.nodes, message.unaccounted) == (0, 0)
    assert message.finding.startswith("The number of nodes is redacted")


@pytest.mark.parametrize(
    ("text", "reasons", "end"),
    [
        ("0/5 nodes are available: 1 Too many pods, 3 Insufficient cpu, 4 In", {"Too many pods", "Insufficient cpu"}, "4 In"),
        ("0/6 nodes are available: 3 Insufficient cpu, 3 node(s) had untolerated", {"Insufficient cpu"}, "3 node(s) had untolerated"),
        ("0/6 nodes are available: 5 Insufficient cpu, 1 node(s) had taint {a/b", {"Insufficient cpu"}, "1 node(s) had taint {a/b"),
    ],
)
def test_the_beginning_of_a_reason_at_the_end_of_a_text_is_no_reason(text: str, reasons: set[str], end: str) -> None:
    message = parse_message(text)
    assert {clause.reason for clause in message.clauses} == reasons
    assert message.finding == f'The message is cut off after "{end}". For a complete answer, paste the whole message.'


def test_an_unknown_reason_before_the_full_stop_is_a_reason() -> None:
    message = parse_message("0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had.")
    assert "node(s) had" in {clause.reason for clause in message.clauses}


@pytest.mark.parametrize("others", ["node(s) didn't satisfy plugin(s) [NodeAffinity]", "node is filtered out by the prefilter result"])
@pytest.mark.parametrize(
    ("reasons", "conclusion", "first"),
    [
        ("1 Too many pods", "that node has reached its maximum number of pods", "make room on that node: move or delete pods there. Give"),
        (
            "1 Insufficient cpu, 1 Insufficient memory",
            "that node does not have enough free CPU, and that node does not have enough free memory",
            "make room on that node: move or delete pods there, or lower the pod's requests. Give",
        ),
    ],
)
def test_a_pod_that_is_meant_for_one_node_needs_room_there_and_no_other_node(
    others: str, reasons: str, conclusion: str, first: str
) -> None:
    message = parse_message(f"0/13 nodes are available: {reasons}, 12 {others}.")
    assert message.conclusion == f"The pod is meant for one node, and {conclusion}. The other 12 nodes do not matter."
    assert message.first.startswith(first)
    assert not any("add a node" in clause.advice for clause in message.clauses)
    # Two nodes that lack something are not one.
    assert "meant for one node" not in parse_message(f"0/13 nodes are available: 2 Too many pods, 11 {others}.").conclusion


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            "Pod not supported on Fargate: invalid SecurityContext fields: Privileged",
            "Fargate cannot run the pod: invalid SecurityContext fields: Privileged",
        ),
        (
            'selectedNode annotation value "" not set to scheduled node "n-1"',
            "a node was chosen, but the provisioner could not create the pod's volume there, so the scheduler starts again",
        ),
    ],
)
def test_messages_without_nodes_of_fargate_and_of_provisioning_are_explained(text: str, headline: str) -> None:
    assert parse_message(text).clauses[0].headline == headline


def test_a_claim_with_the_name_of_a_stateful_sets_is_created_again_with_its_pod() -> None:
    advice = parse_message('persistentvolumeclaim "data-db-1" not found').clauses[0].advice
    assert advice.startswith("if a StatefulSet makes the claim, delete the pod: the StatefulSet then creates both again.")
    assert "StatefulSet" not in parse_message('persistentvolumeclaim "data" not found').clauses[0].advice
