"""What preemption found."""

from __future__ import annotations

import re
from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

#: The pod waits for pods that preemption has evicted.
_VICTIMS_LEAVE: Final = r"not eligible due to a terminating pod on the nominated node\.?"
_IN_PREEMPTION: Final = r"(?:pod group is )?waiting for (?:the )?preemption (?:for this pod(?: group)? to be finished|to complete)"

PREEMPTION: Final[tuple[Row, ...]] = (
    (
        "Preemption is not helpful for scheduling",
        Meaning(
            names.DEFAULT_PREEMPTION,
            "evicting pods would not make the pod fit on the node",
            (),
            "resolve the other reasons; raising the pod's priority would not help",
            of_nodes=("evicting pods on {nodes} would not help", "evicting pods on {nodes} would not help"),
        ),
    ),
    (
        r"No preemption victims found for incoming (?:pod|preemptor)|No victims found on node (?P<node>\S+) for preemptor pod (?P<pod>\S+)",
        Meaning(
            names.DEFAULT_PREEMPTION,
            "the node runs no lower-priority pods whose eviction would make room",
            (),
            "free up capacity or add a node; a higher priority helps only if the nodes run lower-priority pods",
            of_nodes=(
                "{nodes} runs no lower-priority pods whose eviction would make room",
                "{nodes} run no lower-priority pods whose eviction would make room",
            ),
            of_none="{nodes} runs lower-priority pods whose eviction would make room",
        ),
    ),
    (
        r"not eligible due to preemptionPolicy=Never\.?",
        Meaning(
            names.DEFAULT_PREEMPTION,
            "the pod's preemptionPolicy is Never, so it does not evict other pods",
            (),
            "if the pod is allowed to evict others, use a PriorityClass without preemptionPolicy: Never",
        ),
    ),
    (
        _VICTIMS_LEAVE,
        Meaning(
            names.DEFAULT_PREEMPTION,
            "the pod is waiting for pods that preemption has already evicted from its nominated node",
            (),
            "wait; if a pod stays Terminating, check its finalizers and the kubelet of its node",
        ),
    ),
    (
        r"(?:preemption: )?not eligible due to (?P<why>.*)",
        Meaning(names.DEFAULT_PREEMPTION, "the pod is not eligible to preempt others: {why}", (), "resolve the other reasons"),
    ),
    (
        r"no candidate node for preemption",
        Meaning(
            names.DEFAULT_PREEMPTION,
            "an extender rejected every node on which evicting pods would help",
            (),
            "check the extender's log and its preemptVerb",
        ),
    ),
    (
        (
            r"(?:preemption: pod group for pod not found|not found|All PostFilter plugins are skipped|"
            r"default preemption plugin is not registered, workload aware preemption is disabled|"
            r"workload aware preemption is not supported for pod groups with scheduling constraints)"
        ),
        Meaning(names.DEFAULT_PREEMPTION, "preemption was not tried", (), "resolve the other reasons"),
    ),
    (
        _IN_PREEMPTION,
        Meaning(
            names.DEFAULT_PREEMPTION,
            "preemption has evicted pods, and the pod is waiting until they are gone",
            (),
            "wait; if a pod stays Terminating, check its finalizers and the kubelet of its node",
        ),
    ),
)


def waits_for_victims(reason: str) -> bool:
    """Whether preemption's reason says that it has evicted pods for this pod, which waits until they are gone."""
    return any(re.fullmatch(pattern, reason) for pattern in (_VICTIMS_LEAVE, _IN_PREEMPTION))
