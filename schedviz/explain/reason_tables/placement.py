"""Reasons that concern other pods: ports, affinity, spread."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

PLACEMENT: Final[tuple[Row, ...]] = (
    (
        r"node\(s\) didn't have free ports for the requested pod ports",
        Meaning(
            names.NODE_PORTS,
            "a host port that the pod requests is in use on the node",
            ("another pod, often a replica of this one, uses the same `hostPort`",),
            (
                "find the pod that uses the port: `kubectl get pods -A -o "
                "'custom-columns=NODE:.spec.nodeName,POD:.metadata.name,PORT:.spec.containers[*].ports[*].hostPort'`. If it is a "
                "replica of this pod, run at most one replica per node, or add a node{where}; otherwise, change one of the ports"
            ),
            of_nodes=("{nodes} already uses the pod's host port", "{nodes} already use the pod's host port"),
            of_none="{nodes} has the pod's host port free",
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "no pod that matches the pod's affinity runs in the node's topology domain",
            (
                "the required pod is not running, or its labels do not match",
                "the required pod is in a namespace that the affinity term does not cover",
            ),
            "check that the required pod is running, and compare its labels with the `labelSelector` of the affinity term",
            of_nodes=(
                "{nodes} does not satisfy the pod's affinity to other pods",
                "{nodes} do not satisfy the pod's affinity to other pods",
            ),
            of_none="{nodes} satisfies the pod's affinity to other pods",
        ),
    ),
    (
        r"node\(s\) didn't match pod anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod that matches the pod's anti-affinity runs in the node's topology domain",
            ("there are more replicas than nodes or zones to spread them over",),
            "add nodes{where}, reduce the replicas, or make the anti-affinity preferred instead of required",
            of_nodes=(
                "{nodes} runs a pod that conflicts with this pod's anti-affinity rules",
                "{nodes} run pods that conflict with this pod's anti-affinity rules",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity/anti-affinity(?: rules)?",
        Meaning(
            names.INTER_POD_AFFINITY,
            "the pod's affinity or anti-affinity to other pods rules out the node",
            (
                "there are more replicas than nodes or zones to spread them over",
                "the required pod is not running, or its labels do not match",
            ),
            "add nodes{where}, reduce the replicas, or make the anti-affinity preferred instead of required",
            of_nodes=(
                "{nodes} does not satisfy the pod's inter-pod affinity or anti-affinity",
                "{nodes} do not satisfy the pod's inter-pod affinity or anti-affinity",
            ),
            of_none="{nodes} satisfies the pod's inter-pod affinity and anti-affinity",
        ),
    ),
    (
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod in the node's topology domain has anti-affinity to this pod",
            ("replicas of this pod run there, and a rollout starts a new one before an old one has ended",),
            (
                "find the running pods whose anti-affinity selects this pod's labels. If they are replicas of this pod, add a node{where}, "
                "or let the rollout stop an old replica first (`maxSurge: 0`)"
            ),
            of_nodes=(
                "{nodes} is ruled out by the anti-affinity of a pod that runs there",
                "{nodes} are ruled out by the anti-affinity of pods that run there",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints?(?:\(s\))? \(missing required label\)",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the node lacks the label that the topology spread constraint uses",
            ("some nodes do not have the label that `topologyKey` names",),
            (
                "find the key with `kubectl get pod{pod} -o yaml | grep topologyKey` and the nodes without it with "
                "`kubectl get nodes -L KEY`; then label those nodes, or use a `topologyKey` that they have"
            ),
            of_nodes=(
                "{nodes} lacks the label that the pod's topology spread constraint uses",
                "{nodes} lack the label that the pod's topology spread constraint uses",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints?(?:\(s\))?",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the pod would make the skew larger than `maxSkew`, or the node lacks the topology label",
            (
                ("the domain with the fewest matching pods has no room, and placing the pod elsewhere would exceed `maxSkew`"),
                "some nodes do not have the label that `topologyKey` names",
            ),
            "free up capacity in the topology domain that has the fewest matching pods, or set `whenUnsatisfiable: ScheduleAnyway`",
            of_nodes=(
                "{nodes} does not satisfy the pod's topology spread constraints",
                "{nodes} do not satisfy the pod's topology spread constraints",
            ),
            of_none="{nodes} satisfies the pod's topology spread constraints",
        ),
    ),
    (
        r"node\(s\) didn't match service affinity",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a scheduler policy keeps the pods of a Service on nodes with equal labels",
            (),
            "check ServiceAffinity in the scheduler's policy",
            of_nodes=(
                "{nodes} does not have the labels that the scheduler's ServiceAffinity policy requires",
                "{nodes} do not have the labels that the scheduler's ServiceAffinity policy requires",
            ),
        ),
    ),
)
