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
            ("a pod with the same hostPort, often a replica of it",),
            "find the pod that has the port: `kubectl get pods -A -o "
            "'custom-columns=NODE:.spec.nodeName,POD:.metadata.name,PORT:.spec.containers[*].ports[*].hostPort'`; "
            "a node runs one pod for each host port",
            of_nodes=("{nodes} has the pod's host port in use", "{nodes} have the pod's host port in use"),
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "no pod that matches the pod's affinity runs in the node's topology domain",
            ("the required pod does not run or has other labels", "its namespace is not among those of the affinity term"),
            "check that the required pod runs, and compare its labels with the term's labelSelector",
            of_nodes=(
                "{nodes} lacks the pods that the pod's affinity requires nearby",
                "{nodes} lack the pods that the pod's affinity requires nearby",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match pod anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod that matches the pod's anti-affinity runs in the node's topology domain",
            ("more replicas than topology domains",),
            "add nodes, reduce the replicas, or make the anti-affinity preferred instead of required",
            of_nodes=(
                "{nodes} is ruled out by the pod's anti-affinity: a matching pod runs there",
                "{nodes} are ruled out by the pod's anti-affinity: matching pods run there",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity/anti-affinity(?: rules)?",
        Meaning(
            names.INTER_POD_AFFINITY,
            "the pod's affinity or anti-affinity to other pods excludes the node",
            ("more replicas than topology domains", "the required pod does not run or has other labels"),
            "add nodes, reduce the replicas, or make the anti-affinity preferred instead of required",
            of_nodes=(
                "{nodes} is excluded by the pod's affinity or anti-affinity to other pods",
                "{nodes} are excluded by the pod's affinity or anti-affinity to other pods",
            ),
        ),
    ),
    (
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod in the node's topology domain has anti-affinity to this pod",
            (),
            "look for running pods whose anti-affinity selects this pod's labels",
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
            "the node lacks the label that is the constraint's topologyKey",
            ("nodes without the topology label",),
            "find the key with `kubectl get pod{pod} -o yaml | grep topologyKey`, and the nodes that lack it with `kubectl get nodes -L "
            "KEY`; label them, or use a topologyKey that they have",
            of_nodes=("{nodes} lacks the label over which the pod is spread", "{nodes} lack the label over which the pod is spread"),
        ),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints?(?:\(s\))?",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the pod would make the skew larger than maxSkew, or the node lacks the topology label",
            ("a domain without capacity blocks the others", "nodes without the topology label"),
            "make room in the zone or on the node that has the fewest matching pods, or set whenUnsatisfiable to ScheduleAnyway",
            of_nodes=("{nodes} is excluded by the pod's topology spread", "{nodes} are excluded by the pod's topology spread"),
        ),
    ),
    (
        r"node\(s\) didn't match service affinity",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a policy of the scheduler keeps the pods of a Service on nodes with equal labels",
            (),
            "look at the scheduler's policy (ServiceAffinity)",
        ),
    ),
)
