"""What the cluster autoscaler and Karpenter say about a pending pod, in its events and in their logs."""

from __future__ import annotations

from typing import Final

from schedviz.explain.meaning import Meaning, Row

CLUSTER_AUTOSCALER: Final = "cluster-autoscaler"
KARPENTER: Final = "karpenter"

#: They are about NodePools: those before a reason, and after it. A message without them is about all NodePools.
_NODEPOOL: Final = r'incompatible with (?:nodepool|provisioner) "(?P<nodepool>[^"]*)", (?:daemonset overhead=(?:\{[^{}]*\}|[^,]*), )?'
#: A quantity of Karpenter's JSON, without the pods and the DaemonSets' pods that it counts.
_RESOURCES: Final = r"no instance type (?:satisfied|has enough) resources (?P<resources>\{[^{}]*\}).*"
#: How the reason begins of a NodePool that is at its limits.
AT_ITS_LIMITS: Final = "all available instance types exceed limits"
_LOOK_AT_NODEPOOLS: Final = "compare the pod's requirements and tolerations with the NodePools: `kubectl get nodepools -o yaml`"

AUTOSCALERS: Final[tuple[Row, ...]] = (
    (
        _NODEPOOL + _RESOURCES,
        Meaning(
            KARPENTER,
            "no instance type that the NodePool {nodepool} and the pod allow is large enough: the pod and the DaemonSets on its node "
            "request {resources}",
            (),
            "lower the pod's requests, or allow larger instance types in the NodePool: `kubectl get nodepools -o yaml`",
        ),
    ),
    (
        _NODEPOOL + r"did not tolerate (?:taint )?(?P<taint>[^\s;(]+).*",
        Meaning(
            KARPENTER,
            "the NodePool {nodepool} has the taint {taint}, which the pod does not tolerate",
            (),
            "add a toleration for {taint} if the pod belongs on the nodes of the NodePool {nodepool}",
        ),
    ),
    (
        _NODEPOOL
        + r"incompatible requirements, key (?P<key>\S+), (?P=key) In \[(?P<asked>[^\]\s]+)\] not in (?P=key) In \[(?P<made>[^\]]+)\]"
        + r"(?: \(.*\))?",
        Meaning(
            KARPENTER,
            "the pod asks for {key}={asked}, and the NodePool {nodepool} only makes nodes with {made}",
            (),
            "compare the pod's nodeSelector and node affinity with the NodePool: `kubectl get nodepools -o yaml`",
        ),
    ),
    (
        _NODEPOOL + r"incompatible requirements, (?P<why>.*)",
        Meaning(
            KARPENTER,
            "the NodePool {nodepool} does not make nodes with the labels that the pod asks for: {why}",
            (),
            "compare the pod's nodeSelector and node affinity with the NodePool: `kubectl get nodepools -o yaml`",
        ),
    ),
    (_NODEPOOL + r"(?P<why>.*)", Meaning(KARPENTER, "the NodePool {nodepool} does not suit the pod: {why}", (), _LOOK_AT_NODEPOOLS)),
    (
        AT_ITS_LIMITS + r' for (?:nodepool|provisioner):? "?(?P<nodepool>[^"\s;]*)"?.*',
        Meaning(
            KARPENTER,
            "another node would exceed the limits of the NodePool {nodepool}",
            (),
            "raise spec.limits of the NodePool {nodepool}: `kubectl get nodepools -o wide` shows what is used",
        ),
    ),
    (
        r"no (?:nodepools|provisioners) found.*",
        Meaning(
            KARPENTER, "Karpenter has no NodePool that is ready", (), "look at the NodePools and their conditions: `kubectl get nodepools`"
        ),
    ),
    (
        r"(?:could not|failed to) schedule pod, (?P<why>.*)",
        Meaning(KARPENTER, "no NodePool of Karpenter would give the pod a node: {why}", (), _LOOK_AT_NODEPOOLS),
    ),
    (
        r"pod should schedule on: (?P<node>.*)",
        Meaning(
            KARPENTER,
            "Karpenter has chosen or made a node for the pod: {node}",
            (),
            "wait for it; if it takes more than a few minutes, look at `kubectl get nodeclaims` and their events",
        ),
    ),
    (
        r"pod didn't trigger scale-up.*",
        Meaning(CLUSTER_AUTOSCALER, "no node group of the cluster autoscaler would give the pod a node", (), "look at its log"),
    ),
    (
        r"pod triggered scale-up: \[\{(?:\S*/)?(?P<group>[^\s/]+) (?P<before>\d+)->(?P<after>\d+) \(max: (?P<maximum>\d+)\)\}.*",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the cluster autoscaler enlarges the node group {group} from {before} to {after} nodes (maximum {maximum})",
            (),
            "wait for it: `kubectl get nodes -w`. If no node comes within 15 minutes, look at "
            "`kubectl -n kube-system describe configmap cluster-autoscaler-status`",
        ),
    ),
    (
        r"node scale up in zones (?P<zones>.+?) associated with this pod failed: (?P<why>.+?)\.? pod is at risk of not being scheduled\.?",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the cluster autoscaler could not make a node in {zones}: {why}",
            (),
            "look at the quota and the capacity of the cloud there, or allow other zones or machine types",
        ),
    ),
    (
        r"max node group size reached",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the node group has as many nodes as its maximum size allows",
            (),
            "raise the maximum size of a node group that would take the pod",
            of_nodes=("{nodes} is at its maximum size", "{nodes} are at their maximum size"),
        ),
    ),
    (
        r"max cluster (?P<resources>.+) limit reached",
        Meaning(
            CLUSTER_AUTOSCALER,
            "another node would exceed the autoscaler's limit for the whole cluster: {resources}",
            (),
            "raise the autoscaler's limit (`--cores-total`, `--memory-total`, `--gpu-total`)",
        ),
    ),
    (
        r"in backoff after failed scale-up",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the node group could not be enlarged, and the autoscaler waits before it tries again",
            ("the cloud has no capacity or no quota left for these machines",),
            "look at `kubectl -n kube-system describe configmap cluster-autoscaler-status`, and at the group in the cloud",
            of_nodes=(
                "{nodes} could not be enlarged, and the autoscaler waits before it tries again",
                "{nodes} could not be enlarged, and the autoscaler waits before it tries again",
            ),
        ),
    ),
    (
        r"not ready for scale-up",
        Meaning(
            CLUSTER_AUTOSCALER,
            "too many nodes of the node group are not ready, so the autoscaler does not enlarge it",
            (),
            "look at the group's nodes with `kubectl get nodes`",
            of_nodes=("{nodes} has too many nodes that are not ready", "{nodes} have too many nodes that are not ready"),
        ),
    ),
)
