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
            "remove the hostPort, or run at most one such pod on each node",
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "no pod that matches the pod's affinity runs in the node's topology domain",
            ("the required pod does not run or has other labels", "its namespace is not among those of the affinity term"),
            "check that the required pod runs, and compare its labels with the term's labelSelector",
        ),
    ),
    (
        r"node\(s\) didn't match pod anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod that matches the pod's anti-affinity runs in the node's topology domain",
            ("more replicas than topology domains",),
            "add nodes, reduce the replicas, or make the anti-affinity preferred instead of required",
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity/anti-affinity(?: rules)?",
        Meaning(
            names.INTER_POD_AFFINITY,
            "the pod's affinity or anti-affinity to other pods excludes the node",
            ("more replicas than topology domains", "the required pod does not run or has other labels"),
            "add nodes, reduce the replicas, or make the anti-affinity preferred instead of required",
        ),
    ),
    (
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod in the node's topology domain has anti-affinity to this pod",
            (),
            "look for running pods whose anti-affinity selects this pod's labels",
        ),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints?(?:\(s\))? \(missing required label\)",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the node lacks the label that is the constraint's topologyKey",
            ("nodes without the topology label",),
            "label the nodes, or use a topologyKey that they have",
        ),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints?(?:\(s\))?",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the pod would make the skew larger than maxSkew, or the node lacks the topology label",
            ("a domain without capacity blocks the others", "nodes without the topology label"),
            "make room in the domain with the fewest pods, or set whenUnsatisfiable to ScheduleAnyway",
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
