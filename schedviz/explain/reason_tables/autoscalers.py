"""What the cluster autoscaler says about its node groups and the cloud. Karpenter's messages are explained in `explain/autoscalers`."""

from __future__ import annotations

from typing import Final

from schedviz.explain.meaning import Meaning, Row

CLUSTER_AUTOSCALER: Final = "cluster-autoscaler"
KARPENTER: Final = "karpenter"

_STATUS: Final = "kubectl -n kube-system describe configmap cluster-autoscaler-status"

AUTOSCALERS: Final[tuple[Row, ...]] = (
    (
        r"max (?:node group size|limit) reached",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the node group is at its maximum size",
            (),
            "Raise the maximum size of a node group that can run the pod",
            of_nodes=("{nodes} is at its maximum size", "{nodes} are at their maximum size"),
        ),
    ),
    (
        r"max cluster (?P<resources>.+) limit reached",
        Meaning(
            CLUSTER_AUTOSCALER,
            "another node would exceed the autoscaler's limit for the whole cluster ({resources})",
            (),
            "Raise the cluster-wide limit of the autoscaler (`--cores-total`, `--memory-total`, or `--gpu-total`)",
        ),
    ),
    (
        r"max total nodes in cluster reached",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the cluster has as many nodes as the autoscaler allows",
            (),
            "Raise `--max-nodes-total` of the cluster autoscaler, or remove nodes that are no longer needed",
        ),
    ),
    (
        r"atomic scale-up exceeds cluster node count limit",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the node group can only be scaled as a whole, which would exceed the maximum number of nodes in the cluster",
            (),
            "Raise `--max-nodes-total` of the cluster autoscaler, or use a smaller node group",
            of_nodes=(
                "{nodes} can only be scaled as a whole, which would exceed the maximum number of nodes in the cluster",
                "{nodes} can only be scaled as a whole, which would exceed the maximum number of nodes in the cluster",
            ),
        ),
    ),
    (
        r"not all pods would fit and scale-up is using all-or-nothing strategy",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the node group cannot take all pods of the request, and the autoscaler scales up for all of them or for none",
            (),
            "Raise the maximum size of a node group that can run the pods, or request fewer pods at once",
            of_nodes=(
                "{nodes} cannot take all pods of the request, and the autoscaler scales up for all of them or for none",
                "{nodes} cannot take all pods of the request, and the autoscaler scales up for all of them or for none",
            ),
        ),
    ),
    (
        r"No expansion options",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the cluster autoscaler found no node group that it could scale up for the pod",
            (),
            (
                f"Check that it knows your node groups: `{_STATUS}`. If one is missing, correct `--nodes` or the tags for auto-discovery; "
                "otherwise, the lines with `can't be scheduled on` before this one give the reasons"
            ),
        ),
    ),
    (
        r"in backoff after failed scale-up",
        Meaning(
            CLUSTER_AUTOSCALER,
            "the node group is in backoff after a failed scale-up",
            ("The cloud has no capacity or no quota left for these machines.",),
            f"Find out why the scale-up failed: run `{_STATUS}`, or look up the node group's errors in the cloud console",
            of_nodes=(
                "{nodes} is in backoff after a failed scale-up",
                "{nodes} are in backoff after failed scale-ups",
            ),
        ),
    ),
    (
        r"not ready for scale-up",
        Meaning(
            CLUSTER_AUTOSCALER,
            "too many nodes of the node group are not ready, so the autoscaler does not scale it up",
            (),
            f"Find out why nodes of the group are not ready: `kubectl get nodes` and `{_STATUS}`",
            of_nodes=(
                "too many nodes in {nodes} are not ready for a scale-up",
                "too many nodes in {nodes} are not ready for a scale-up",
            ),
        ),
    ),
)
