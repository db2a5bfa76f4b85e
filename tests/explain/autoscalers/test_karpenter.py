"""Messages of Karpenter from public issues are explained by the NodePool that comes closest, with what Karpenter's message proves."""

from __future__ import annotations

import pytest

from schedviz.explain.autoscalers.karpenter import clauses_of, refusal_of
from schedviz.explain.autoscalers.refusal import Refusal

#: https://github.com/kubernetes-sigs/karpenter/issues/2257
SPREAD = (
    'could not schedule pod, incompatible with nodepool "ingress", daemonset overhead={"cpu":"738m","memory":"1880Mi","pods":"8"}, did not '
    'tolerate gel.to/workload=ingress:NoSchedule; incompatible with nodepool "infosec-elastic", daemonset overhead={"cpu":"738m","memory":'
    '"1880Mi","pods":"8"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = eu-west-1a: 1, '
    "eu-west-1b: 0, podDomains = topology.kubernetes.io/zone In [eu-west-1a], nodeDomains = topology.kubernetes.io/zone In [eu-west-1a]; "
    'incompatible with nodepool "common-multiarch", daemonset overhead={"cpu":"738m","memory":"1880Mi","pods":"8"}, incompatible requirements, '
    "key gel.to/workload, gel.to/workload In [infosec-elastic] not in gel.to/workload In [common-multiarch]"
)
#: https://github.com/kubernetes-sigs/karpenter/issues/3272
NO_SUCH_ZONE = (
    "could not schedule pod, incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [non-existent-zone] not in "
    "karpenter.sh/nodepool In [default-reserved]; no instance type met the scheduling requirements or had enough resources or had a required "
    "offering, requirements=karpenter.k8s.aws/ec2nodeclass In [default], karpenter.sh/capacity-type In [on-demand], karpenter.sh/initialized In "
    "[true], karpenter.sh/nodepool In [non-existent-zone], karpenter.sh/registered In [true], kubernetes.io/arch In [arm64], "
    "node.kubernetes.io/instance-type In [c7g.medium], topology.kubernetes.io/zone In [eu-west-2z], "
    'resources={"cpu":"750m","memory":"256Mi","pods":"3"}; incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In '
    "[non-existent-zone] not in karpenter.sh/nodepool In [default]"
)
#: A public note on Karpenter 0.32, which does not know the extended resource.
POD_ENI = (
    'Could not schedule pod, incompatible with nodepool "test-nodepool", daemonset overhead={"cpu":"310m","memory":"272Mi","pods":"7"}, no '
    'instance type satisfied resources {"cpu":"3310m","memory":"3344Mi","pods":"8","vpc.amazonaws.com/pod-eni":"1"} and requirements '
    "karpenter.sh/capacity-type In [on-demand], karpenter.sh/nodepool In [test-nodepool], kubernetes.io/arch In [amd64], "
    "node.kubernetes.io/instance-type In [c7i.2xlarge c7i.4xlarge], nodepool In [test-nodepool], nodepool/test-nodepool Exists, "
    "topology.kubernetes.io/zone In [ap-northeast-2a ap-northeast-2c] (no instance type which had enough resources and the required offering "
    "met the scheduling requirements);"
)
#: https://github.com/aws/karpenter-provider-aws/issues/4738
PROVISIONERS = (
    'Could not schedule pod, incompatible with provisioner "bitbucket", daemonset overhead={"cpu":"655m","memory":"628000Ki","pods":"7"}, did '
    'not tolerate bitbucket=true:NoSchedule; incompatible with provisioner "monitoring", daemonset overhead={"cpu":"655m","memory":"628000Ki",'
    '"pods":"7"}, no instance type satisfied resources {"cpu":"2655m","memory":"21599520Ki","pods":"8"} and requirements '
    "karpenter.k8s.aws/instance-category In [c m r], karpenter.sh/capacity-type In [on-demand spot], karpenter.sh/provisioner-name In "
    "[monitoring], kubernetes.io/arch In [amd64 arm64], kubernetes.io/os In [linux], provisioner In [monitoring], topology.kubernetes.io/zone "
    "In [us-east-1d] (no instance type met the scheduling requirements or had a required offering)"
)


def refusal(message: str) -> Refusal:
    found = refusal_of(message)
    assert found is not None
    return found


def said(message: str) -> str:
    return refusal(message).sentence.text.removeprefix("Karpenter cannot add a node for this pod: ").removesuffix(".")


def advised(message: str) -> str:
    advice = refusal(message).advice
    assert advice is not None
    return advice.text


def test_the_nodepool_that_the_pod_selects_leads_and_other_pools_are_a_note() -> None:
    found = refusal(SPREAD)
    assert found.sentence.text == (
        "Karpenter cannot add a node for this pod: NodePool `infosec-elastic`, which the pod selects, cannot satisfy the pod's topology spread over `topology.kubernetes.io/zone`: eu-west-1a has 1 matching pod and eu-west-1b has 0, but the pod can run only in eu-west-1a."
    )
    assert found.note is not None
    assert found.note.text == (
        "Other NodePools do not match the pod: `common-multiarch` provides `gel.to/workload=common-multiarch`; `ingress` has the taint `gel.to/workload=ingress:NoSchedule`."
    )
    assert "toleration" not in advised(SPREAD)
    assert advised(SPREAD).startswith("Make eu-west-1b available to both the pod and NodePool `infosec-elastic`. ")


def test_the_zone_that_no_instance_type_is_offered_in_is_named() -> None:
    assert said(NO_SUCH_ZONE) == (
        "no instance type in NodePool `non-existent-zone`, which the pod selects, meets the requirements, is large enough, or is offered (zone eu-west-2z; c7g.medium; arm64; on-demand)"
    )
    assert refusal(NO_SUCH_ZONE).note is None


def test_an_extended_resource_comes_first_where_the_size_is_not_the_reason_and_the_requirements_are_a_note() -> None:
    found = refusal(POD_ENI)
    assert found.sentence.text == (
        "Karpenter cannot add a node for this pod, which requests the extended resource `vpc.amazonaws.com/pod-eni`: no instance type in NodePool `test-nodepool` that is large enough and offered meets the requirements."
    )
    assert found.note is not None
    assert found.note.text == (
        "Instance types must meet: zone ap-northeast-2a or ap-northeast-2c; c7i.2xlarge or c7i.4xlarge; amd64; on-demand."
    )
    assert advised(POD_ENI).startswith("Check that this version of Karpenter supports `vpc.amazonaws.com/pod-eni`")
    assert "lower" not in advised(POD_ENI).lower()


def test_a_provisioner_is_not_called_a_nodepool() -> None:
    found = refusal(PROVISIONERS)
    assert said(PROVISIONERS) == (
        "no instance type in Provisioner `monitoring` meets the requirements, and none is offered in the required zone and capacity type (zone us-east-1d; amd64 or arm64; on-demand or spot; instance-category in (c, m, r))"
    )
    assert "`kubectl get provisioner monitoring -o yaml`" in advised(PROVISIONERS)
    assert found.note is not None
    assert "NodePool" not in f"{found.sentence.text} {advised(PROVISIONERS)} {found.note.text}"


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (
            # https://github.com/kubernetes-sigs/karpenter/issues/1162
            (
                'incompatible with nodepool "default", daemonset overhead={"cpu":"675m"}, incompatible requirements, label "nodegroup" does not '
                "have known values"
            ),
            "NodePool `default` does not define the label `nodegroup`, which the pod requires",
        ),
        (
            # https://github.com/kubernetes-sigs/karpenter/issues/2438
            (
                "no instance type met the scheduling requirements or had a required offering, requirements=coder In [workspace], "
                "karpenter.k8s.aws/instance-cpu Exists >4, karpenter.sh/capacity-type In [on-demand spot], karpenter.sh/nodepool In [coder-workspace], "
                'topology.kubernetes.io/zone DoesNotExist, resources={"cpu":"4180m","memory":"6264Mi","pods":"7"}'
            ),
            "no zone satisfies all requirements of the pod and of NodePool `coder-workspace`",
        ),
        (
            # https://github.com/aws/karpenter-provider-aws/issues/6540
            (
                'incompatible with nodepool "default", daemonset overhead={"cpu":"910m"}, key kubernetes.io/hostname, kubernetes.io/hostname '
                "DoesNotExist not in kubernetes.io/hostname In [hostname-placeholder-740854]"
            ),
            "a new node in NodePool `default` cannot satisfy the pod's topology constraints on `kubernetes.io/hostname`",
        ),
        (
            # https://github.com/aws/karpenter-provider-aws/issues/7999
            (
                'incompatible with nodepool "default", daemonset overhead={"cpu":"629m"}, unsatisfiable topology constraint for pod affinity, '
                "key=kubernetes.io/hostname (counts = ip-10-60-53-184.ec2.internal: 0, podDomains = kubernetes.io/hostname Exists, nodeDomains = "
                'kubernetes.io/hostname In [hostname-placeholder-35074]; incompatible with nodepool "airflow", daemonset overhead={"cpu":"629m"}, '
                "did not tolerate app=airflow:NoSchedule"
            ),
            "no running pod that Karpenter knows matches the pod's affinity over `kubernetes.io/hostname`",
        ),
        (
            # https://github.com/aws/karpenter-provider-aws/issues/4698
            'all available instance types exceed limits for provisioner: "default"',
            "another node would exceed the limits of Provisioner `default`",
        ),
        (
            # https://github.com/aws/karpenter-provider-aws/issues/3642
            (
                'incompatible with provisioner "gitlab-node", no instance type satisfied resources {"cpu":"4","memory":"4Gi","pods":"1"} and '
                "requirements node.kubernetes.io/instance-type In [c5.2xlarge c5.4xlarge c5.xlarge c5a.2xlarge c5a.4xlarge and 18 others], "
                "kubernetes.io/arch In [amd64], karpenter.sh/provisioner-name In [gitlab-node]"
            ),
            (
                "no instance type in Provisioner `gitlab-node` satisfies both the requirements and the requested resources (c5.2xlarge, c5.4xlarge, or 21 others; amd64; 4 CPU, 4Gi memory)"
            ),
        ),
        (
            # https://github.com/kubernetes-sigs/karpenter/pull/2441
            (
                "did not tolerate taint (taint=a/tier=A400:NoSchedule); did not tolerate taint (taint=a/set=low:NoSchedule); did not tolerate "
                "taint (taint=a/set=low:NoSchedule)"
            ),
            "the NodePools have taints that the pod does not tolerate: `a/tier=A400:NoSchedule`, `a/set=low:NoSchedule`",
        ),
        (
            # https://github.com/kubernetes-sigs/karpenter/issues/2123
            (
                'incompatible with nodepool "kb-demo", daemonset overhead={"cpu":"681m"}, incompatible requirements, label "node-role/stable" does '
                'not have known values (typo of "acquia.io/stage"?); incompatible with nodepool "worker", daemonset overhead={"cpu":"681m"}, '
                'incompatible requirements, label "node-role/stable" does not have known values (typo of "acquia.io/stage"?)'
            ),
            "none of the NodePools `kb-demo`, `worker` defines the label `node-role/stable`, which the pod requires",
        ),
        (
            "incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [no-such-pool] not in karpenter.sh/nodepool In [std]",
            "the pod selects NodePool `no-such-pool`, which is not among those that Karpenter can use",
        ),
        (
            (
                "unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = us-east-1a: 1, us-east-1b: 1, "
                "us-east-1c: 0, podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone In [us-east-1a us-east-1b])"
            ),
            (
                "the NodePool cannot satisfy the pod's topology spread over `topology.kubernetes.io/zone`: us-east-1a has 1 matching pod, us-east-1b has 1 and us-east-1c has 0, but nodes of the pool can be only in us-east-1a or us-east-1b"
            ),
        ),
        (
            "node limits have been exhausted for nodepool (NodePool=arm)",
            "NodePool `arm` has reached its limit of nodes",
        ),
        (
            (
                "minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type]), requirements=karpenter.sh/nodepool In "
                '[default], resources={"cpu":"1"}'
            ),
            "the instance types that remain in NodePool `default` have fewer values of node.kubernetes.io/instance-type than its `minValues`",
        ),
    ],
)
def test_each_reason_is_one_sentence_about_what_decides(reason: str, sentence: str) -> None:
    assert said(f"Failed to schedule pod, {reason}") == sentence
    assert advised(f"Failed to schedule pod, {reason}")[0].isupper()


#: What each conclusion of Karpenter says about size, offering and requirements.
CONCLUSIONS = {
    "no instance type met the scheduling requirements or had enough resources": "meets the requirements, and none is large enough",
    "no instance type met the scheduling requirements or had a required offering": "meets the requirements, and none is offered",
    "no instance type had enough resources or had a required offering": "is large enough, and none is offered",
    "no instance type met all requirements": "meets the requirements of the pod and the NodePool",
    "no instance type has enough resources": "provides what the pod and the DaemonSet pods of a node need",
    "no instance type has the required offering": "is offered in the required zone and capacity type",
    "no instance type which met the scheduling requirements and had enough resources, had a required offering": (
        "that meets the requirements and is large enough is offered"
    ),
    "no instance type which met the scheduling requirements and the required offering had the required resources": (
        "that meets the requirements and is offered is large enough"
    ),
    "no instance type met the requirements/resources/offering tuple": "meets the requirements, is large enough, and is offered",
}


@pytest.mark.parametrize(("conclusion", "meaning"), CONCLUSIONS.items())
def test_both_generations_of_messages_have_the_same_meaning(conclusion: str, meaning: str) -> None:
    before = (
        'Failed to schedule pod, incompatible with nodepool "a", daemonset overhead={}, no instance type satisfied resources {"cpu":"2"} and '
        f"requirements karpenter.sh/nodepool In [a], kubernetes.io/arch In [arm64] ({conclusion})"
    )
    since = (
        f"Failed to schedule pod, {conclusion}, requirements=karpenter.sh/nodepool In [a], kubernetes.io/arch In [arm64], "
        'resources={"cpu":"2"}'
    )
    assert said(before) == said(since)
    assert said(since).startswith(f"no instance type in NodePool `a` {meaning}")
    assert ("Lower the pod's requests" in advised(since)) == (conclusion == "no instance type has enough resources")


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ('StorageClass.storage.k8s.io "smb" not found', "StorageClass `smb` of its claim does not exist"),
        (
            "unbound pvc must define a storage class (PersistentVolumeClaim=shop/data)",
            "its claim `shop/data` is not bound and names no StorageClass",
        ),
        ("unbound pvc data must define a storage class", "its claim `data` is not bound and names no StorageClass"),
        ("no nodepools found", "no NodePool is ready"),
        ("node selector term with matchFields is not supported", "its node affinity uses `matchFields`, which Karpenter does not support"),
        (
            "configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)",
            "its node affinity excludes nodes that Karpenter creates",
        ),
    ],
)
def test_an_error_of_the_pod_itself_is_not_attributed_to_a_nodepool(reason: str, sentence: str) -> None:
    assert refusal(f"ignoring pod, {reason}").sentence.text == f"Karpenter does not add a node for this pod: {sentence}."


def test_an_unknown_reason_is_not_a_headline() -> None:
    found = refusal('Failed to schedule pod, incompatible with nodepool "a", daemonset overhead={}, something new: {"x": 1}')
    assert found.sentence.text == (
        "Karpenter cannot add a node for this pod: NodePool `a` does not match the pod, for the reason in Karpenter's message."
    )


def test_clauses_quote_karpenter_and_only_the_first_gives_advice() -> None:
    clauses = clauses_of(SPREAD)
    assert len(clauses) == 3
    assert all(clause.reason in SPREAD for clause in clauses)
    assert [bool(clause.advice) for clause in clauses] == [True, False, False]


def test_a_text_of_another_program_is_not_taken_for_karpenters() -> None:
    assert refusal_of("0/3 nodes are available: 3 Insufficient cpu.") is None
    assert clauses_of("pod didn't trigger scale-up: 1 max node group size reached") == ()


def test_the_guess_of_karpenter_comes_after_the_advice() -> None:
    said = 'incompatible with nodepool "default", daemonset overhead={"cpu":"1m"}, incompatible requirements, label "name" does not have known values (typo of "team"?)'
    found = refusal_of(f"Failed to schedule pod, {said}")
    assert found is not None
    assert found.advice is not None
    assert found.advice.text.startswith("Add the label `name` to ")
    assert found.advice.text.endswith(". If the key is a typo of `team`, correct it in the pod")


def test_limits_of_a_provisioner_without_a_name_are_not_a_lack_of_instance_types() -> None:
    found = refusal(
        'Could not schedule pod, all available instance types exceed provisioner limits; incompatible with provisioner "logs", did not '
        "tolerate dedicated=logs:NoSchedule"
    )
    assert found.sentence.text == "Karpenter cannot add a node for this pod: another node would exceed the limits of a Provisioner."
    assert "`kubectl describe provisioners`" in found.advice.text


def test_an_empty_set_of_zones_is_a_contradiction_of_the_pod() -> None:
    why = (
        "incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone DoesNotExist not in "
        "topology.kubernetes.io/zone In [eu-a eu-b]"
    )
    message = f'Failed to schedule pod, incompatible with nodepool "x", {why}; incompatible with nodepool "y", {why}'
    found = refusal(message)
    assert found.sentence.text == (
        "Karpenter does not add a node for this pod: the zone requirements of the pod and its volumes contradict each other, so no zone is left."
    )
    assert found.advice is not None
    assert "`kubectl describe pv`" in found.advice.text
    assert len(clauses_of(message)) == 1

    of_volumes = refusal(message.replace("incompatible requirements", "incompatible volume requirements"))
    assert of_volumes.sentence == found.sentence


def test_a_label_that_the_pod_forbids_is_a_requirement_of_the_pod() -> None:
    message = (
        'Failed to schedule pod, incompatible with nodepool "x", incompatible requirements, key team, team DoesNotExist not in team In [a]'
    )
    assert said(message) == "the pod requires `!team`, but NodePool `x` provides `team=a`"


def test_the_reason_that_a_terminal_cut_off_is_left_out() -> None:
    message = 'could not schedule pod, incompatible with nodepool "x", label "team" does not have known values; …'
    assert said(message) == "NodePool `x` does not define the label `team`, which the pod requires"


def test_what_to_do_about_the_second_nodepool_of_the_sentence_follows() -> None:
    message = (
        'could not schedule pod, incompatible with nodepool "general", daemonset overhead={"cpu":"200m","pods":"4"}, incompatible requirements, '
        'label "team" does not have known values; incompatible with nodepool "accelerated", daemonset overhead={"cpu":"200m","pods":"4"}, '
        "did not tolerate chip=custom:NoSchedule"
    )
    advice = advised(message)
    assert advice.startswith("Add the label `team` to ")
    assert advice.endswith(
        "or remove it from the pod's node selector and affinity. If the pod belongs in NodePool `accelerated`, add a toleration for `chip=custom:NoSchedule`"
    )
