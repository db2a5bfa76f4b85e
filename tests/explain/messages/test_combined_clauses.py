"""What the reasons of one message say together: all nodes, the place of a node that would help, and several taints as one."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.combined_clauses import quoted_reasons, with_grouped_taints
from schedviz.explain.messages.message import parse_message, parse_messages
from schedviz.explain.messages.parsed_message import whole_headline
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.reason_tables.volumes import SEVERAL_ZONES
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.scheduler_messages import PodMessage

CONTROL_PLANE = "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
VOLUME = "node(s) had volume node affinity conflict"
SELECTOR = "node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("said", "headline"),
    [
        (f"0/1 nodes are available: 1 {VOLUME}.", "the only node cannot access the pod's volume"),
        (f"0/2 nodes are available: 2 {VOLUME}.", "neither node can access the pod's volume"),
        (f"0/9 nodes are available: 9 {VOLUME}.", "none of the 9 nodes can access the pod's volume"),
        (f"0/3 nodes are available: 1 {VOLUME}, 2 {CONTROL_PLANE}.", "the only worker node cannot access the pod's volume"),
        (f"0/3 nodes are available: 2 {VOLUME}, 1 {CONTROL_PLANE}.", "neither worker node can access the pod's volume"),
        (f"0/6 nodes are available: 3 {VOLUME}, 3 {CONTROL_PLANE}.", "none of the 3 worker nodes can access the pod's volume"),
        ("0/2 nodes are available: 2 node(s) were unschedulable.", "both nodes are cordoned"),
        ("0/5 nodes are available: 5 node(s) were unschedulable.", "all 5 nodes are cordoned"),
        (f"0/3 nodes are available: 2 node(s) were unschedulable, 1 {CONTROL_PLANE}.", "both worker nodes are cordoned"),
        (f"0/7 nodes are available: 4 node(s) were unschedulable, 3 {CONTROL_PLANE}.", "all 4 worker nodes are cordoned"),
        (f"0/3 nodes are available: 3 {SELECTOR}.", "none of the 3 nodes matches the pod's node selector or affinity"),
        ("0/3 nodes are available: 3 Insufficient cpu.", "none of the 3 nodes has enough free CPU"),
        (
            "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.",
            "no available PersistentVolume matches the pod's claim",
        ),
        (f"0/4 nodes are available: 2 {VOLUME}, 1 Insufficient cpu, 1 {CONTROL_PLANE}.", ""),
    ],
)
def test_a_reason_of_all_nodes_is_one_unambiguous_sentence(said: str, headline: str) -> None:
    assert whole_headline(parse_message(said)) == headline


def test_a_reason_of_all_nodes_beside_others_is_marked_as_such() -> None:
    message = parse_message("0/10 nodes are available: 10 node(s) didn't match node selector, 4 Insufficient cpu.")
    assert message.conclusion == (
        "None of the 10 nodes can run the pod: none matches the pod's node selector or affinity, and 4 do not have enough free CPU."
    )


def test_a_node_that_is_added_must_be_in_the_zone_of_the_volume_and_match_the_selector() -> None:
    def advice(said: str) -> str:
        return next(clause.advice for clause in parse_message(said).clauses if clause.reason == "Insufficient cpu")

    assert advice(f"0/4 nodes are available: 3 Insufficient cpu, 1 {VOLUME}.").startswith("add a node in the volume's zone, or lower the ")
    assert advice(f"0/4 nodes are available: 1 Insufficient cpu, 3 {SELECTOR}.").startswith(
        "add a node with the labels that the pod's node selector or affinity requires, or lower the "
    )
    assert advice(f"0/4 nodes are available: 1 Insufficient cpu, 1 {VOLUME}, 2 {SELECTOR}.").startswith(
        "add a node in the volume's zone with the labels that the pod's node selector or affinity requires, or lower the "
    )
    assert advice("0/4 nodes are available: 4 Insufficient cpu.").startswith("add a node, or lower the ")


def test_an_earlier_message_about_the_volume_says_where_a_node_must_be_added() -> None:
    found = [
        PodMessage("db/redis-0", f"0/3 nodes are available: 2 Insufficient cpu, 1 {VOLUME}.", at="7m ago"),
        PodMessage("db/redis-0", "0/2 nodes are available: 2 Insufficient cpu.", at="10s ago"),
    ]
    newest = read_text(found, [], {}, seconds_of_age).messages[1]
    assert newest.message.clauses[0].advice.startswith("add a node in the volume's zone, or lower the ")


def test_volumes_in_different_zones_are_a_cause_if_nodes_cannot_access_them() -> None:
    [of_all] = parse_message(f"0/3 nodes are available: 3 {VOLUME}.").clauses
    assert SEVERAL_ZONES in of_all.causes
    [*_, of_some] = parse_message(f"0/4 nodes are available: 3 Insufficient cpu, 1 {VOLUME}.").clauses
    assert SEVERAL_ZONES in of_some.causes


@pytest.mark.parametrize(
    ("taint", "headline"),
    [
        ("eks.amazonaws.com/compute-type: fargate", "2 nodes are Fargate nodes (`eks.amazonaws.com/compute-type=fargate`)"),
        ("node.kubernetes.io/os: windows", "2 nodes are Windows nodes (`node.kubernetes.io/os=windows`)"),
        ("windowsContainers: true", "2 nodes are Windows nodes (`windowsContainers=true`)"),
        ("virtual-kubelet.io/provider: azure", "2 nodes are virtual nodes (`virtual-kubelet.io/provider=azure`)"),
    ],
)
def test_nodes_for_other_kinds_of_pods_come_last_and_are_not_worth_a_toleration(taint: str, headline: str) -> None:
    first, other = parse_message(f"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {{{taint}}}.").clauses
    assert first.reason == "Insufficient cpu"
    assert (other.headline, other.is_aside) == (headline, True)
    assert other.advice.startswith("no action is needed")


def test_a_taint_of_windows_nodes_may_be_what_a_pod_lacks_that_selects_them() -> None:
    clauses = parse_message(
        f"0/5 nodes are available: 3 {SELECTOR}, 2 node(s) had untolerated taint {{node.kubernetes.io/os: windows}}."
    ).clauses
    assert [clause.is_aside for clause in clauses] == [False, False]


def test_only_the_control_planes_own_roles_are_reserved_for_it() -> None:
    [infra, control] = parse_message(
        f"0/5 nodes are available: 3 node(s) had untolerated taint {{node-role.kubernetes.io/infra: }}, 2 {CONTROL_PLANE}."
    ).clauses
    assert infra.headline == "all 3 worker nodes have the taint `node-role.kubernetes.io/infra`, which the pod does not tolerate"
    assert control.headline == "2 nodes are reserved for the control plane"


def taints(*listed: str) -> str:
    return ", ".join(f"1 node(s) had untolerated taint {{{taint}}}" for taint in listed)


def test_many_taints_are_one_reason_with_the_number_of_nodes_for_each_key() -> None:
    issues = taints(*(f"example.com/issue: {number}" for number in range(7)))
    message = parse_message(f"0/9 nodes are available: {issues}, {taints('example.com/reservation: a')}, 1 Insufficient cpu.")
    grouped = with_grouped_taints(message.clauses)
    assert [(clause.count, clause.headline) for clause in grouped] == [
        (8, "8 nodes have taints that the pod does not tolerate: `example.com/issue` on 7, `example.com/reservation` on 1"),
        (1, "1 node does not have enough free CPU"),
    ]
    # The reasons are those of the scheduler, whose values a toleration needs.
    assert grouped[0].reason == f"{issues}, 1 node(s) had untolerated taint {{example.com/reservation: a}}"
    assert quoted_reasons(grouped[0])[6:] == [
        "1 node(s) had untolerated taint {example.com/issue: 6}",
        "1 node(s) had untolerated taint {example.com/reservation: a}",
    ]
    assert quoted_reasons(grouped[1]) == ["Insufficient cpu"]
    assert grouped[0].advice.startswith("if the pod belongs on some of these nodes, add tolerations for their taints")


def test_a_conclusion_names_the_keys_of_many_taints_and_counts_the_others() -> None:
    many = taints(*(f"key-{number}: a" for number in range(7)))
    assert parse_message(f"0/9 nodes are available: {many}, 2 Insufficient cpu.").clauses[0].reason.startswith("Insufficient")
    [said] = read_text([PodMessage("", f"0/9 nodes are available: {many}, 2 Insufficient cpu.")], [], {}, seconds_of_age).messages
    assert "(`key-0` on 1, `key-1` on 1, `key-2` on 1, `key-3` on 1, `key-4` on 1 and 2 more) and 2 do not" in said.message.conclusion
    one_key = parse_message(f"0/9 nodes are available: {taints(*(f'pool: {number}' for number in range(8)))}, 1 Insufficient cpu.")
    assert with_grouped_taints(one_key.clauses)[0].headline == "8 nodes have taints that the pod does not tolerate: `pool`"


def test_resources_of_which_no_node_has_enough_are_one_reason_of_the_conclusion() -> None:
    message = parse_message(f"0/6 nodes are available: 6 Insufficient cpu, 6 Insufficient memory, 2 {SELECTOR}.")
    assert message.conclusion == (
        "None of the 6 nodes can run the pod: none has enough free CPU or memory, and 2 do not match the pod's node selector or affinity."
    )


def test_few_taints_of_one_key_are_one_reason_with_their_values_and_different_keys_are_not() -> None:
    same, _ = with_grouped_taints(parse_message(f"0/3 nodes are available: {taints('app: a', 'app: b')}, 1 Insufficient cpu.").clauses)
    assert same.headline == "2 nodes have taints that the pod does not tolerate: `app=a`, `app=b`"
    assert same.reason == "1 node(s) had untolerated taint {app: a}, 1 node(s) had untolerated taint {app: b}"
    two = parse_message(f"0/3 nodes are available: {taints('app: a', 'team: b')}, 1 Insufficient cpu.").clauses
    assert with_grouped_taints(two) == two


def test_a_cut_text_names_the_pods_selector_and_where_the_whole_message_is() -> None:
    from schedviz.engine.framework.types import PodInfo
    from schedviz.ingest.pasted.described_pods import described_pods

    text = (
        "Name:             explorer\nNamespace:        lab\nStatus:           Pending\nContainers:\n  c:\n    Image:  x\n"
        "Node-Selectors:   school=uark\nTolerations:      nvidia.com/gpu op=Exists\nEvents:\n"
    )
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    cut = f"0/521 nodes are available: {taints('example.com/issue: 1', 'example.com/issue: 2')}, 1 node(s) had untol..."
    [said] = read_text([PodMessage("lab/explorer", cut)], [], described, seconds_of_age).messages
    assert said.message.conclusion == (
        "The text is cut off after the reasons for 2 of the 521 nodes, so the main reason is probably missing. "
        "The pod's node selector is `school=uark`."
    )
    assert said.message.first == "read the whole message: `kubectl get pod explorer -n lab -o json | grep 'nodes are available'`"
    assert [(clause.count, clause.advice) for clause in said.message.clauses] == [(2, "")]


def test_a_pod_with_one_claim_has_no_volumes_in_different_zones() -> None:
    from schedviz.engine.framework.types import PodInfo
    from schedviz.kube import codec
    from schedviz.kube.core import Pod

    pod = codec.from_dict(
        {
            "kind": "Pod",
            "metadata": {"name": "redis-0"},
            "spec": {"containers": [], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
        }
    )
    assert isinstance(pod, Pod)
    [said] = parse_messages([PodMessage("default/redis-0", f"0/3 nodes are available: 3 {VOLUME}.")], {"default/redis-0": PodInfo(pod)})
    assert said.message.clauses[0].causes == ("the volume is in another zone", "the volume is local to a node that is gone or unavailable")


def test_a_cordoned_node_is_in_a_domain_of_the_topology_spread() -> None:
    def spread(said: str) -> tuple[str, str]:
        clauses = parse_message(f"0/5 nodes are available: 4 node(s) didn't match pod topology spread constraints, 1 {said}.").clauses
        return next((clause.causes[0], clause.advice) for clause in clauses if clause.plugin == "PodTopologySpread")

    for said in ("node(s) were unschedulable", "node(s) had untolerated taint {dedicated: tenant-a}"):
        cause, advice = spread(said)
        assert cause == "by default, cordoned and tainted nodes still count toward their topology domain"
        assert advice.startswith(
            "check whether the topology domain with the fewest matching pods has only cordoned or tainted nodes. If so"
        )
        assert "`nodeTaintsPolicy: Honor`" in advice
    cause, advice = spread("Insufficient cpu")
    assert "tainted" not in f"{cause} {advice}"


def test_the_nodes_that_the_pod_selects_and_tolerates_come_before_more_tainted_nodes() -> None:
    pools = taints("pool: tests", "pool-b: tests", "infra: ")
    said = f"0/9 nodes are available: {pools}, 2 Insufficient memory, 2 {SELECTOR}, 2 {CONTROL_PLANE}."
    message = parse_message(said)
    assert message.clauses[0].reason == "Insufficient memory"
    assert message.conclusion.endswith(
        ": the 2 nodes that the pod's node selector and tolerations allow do not have enough free memory; of the others, 3 have taints that the pod does "
        "not tolerate, 2 do not match the pod's node selector or affinity, and 2 are reserved for the control plane."
    )
    # Without a selector, the pod may be meant for the tainted nodes.
    assert (
        "node selector and tolerations allow" not in parse_message(f"0/5 nodes are available: {pools}, 2 Insufficient memory.").conclusion
    )
    # A cordoned node may be brought back.
    cordoned = said.replace("9 nodes", "10 nodes").replace(", 2 Insufficient", ", 1 node(s) were unschedulable, 2 Insufficient")
    assert "node selector and tolerations allow" not in parse_message(cordoned).conclusion


def test_several_reasons_of_the_only_node_are_about_it() -> None:
    message = parse_message("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods.")
    assert message.conclusion == (
        "The cluster's only node cannot run the pod: it has reached its maximum number of pods and it does not have enough free CPU or memory."
    )


def test_the_general_reason_of_a_conflict_between_pods_is_left_out_beside_the_rule() -> None:
    message = parse_message(
        "0/1 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity, 1 node(s) didn't satisfy existing pods anti-affinity rules."
    )
    assert [clause.headline for clause in message.clauses] == ["the only node is ruled out by the anti-affinity of a pod that runs there"]
    assert message.unaccounted == 0


def test_names_of_old_predicates_in_a_message_with_counts_are_known() -> None:
    message = parse_message("0/3 nodes are available: 1 PodAntiAffinityRulesNotMatch, 2 CheckServiceAffinity.")
    assert {clause.reason for clause in message.clauses} == {
        "node(s) didn't match pod anti-affinity rules",
        "node(s) didn't match service affinity",
    }
