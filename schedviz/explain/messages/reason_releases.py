"""The simulated releases that use a wording of a reason. The wording of a message can reveal the release of its scheduler."""

from __future__ import annotations

import re
from typing import Final

from schedviz.trace.releases import RELEASES, V1_27, V1_36

#: Reasons of neither simulated release: most are of releases that end before v1.27.1.
_OLDER: Final = (
    r"Insufficient pods",
    r"node\(s\) had taints that the pod didn't tolerate",
    r"node\(s\) had taint \{.*\}, that the pod didn't tolerate",
    r"node\(s\) (?:were not ready|were unreachable|were out of disk space|had unavailable network|had (?:memory|disk|pid) pressure)",
    r"node\(s\) didn't match (?:node selector|Pod's node affinity|the requested hostname|pod affinity/anti-affinity|service affinity)",
    r"node\(s\) didn't have the requested labels",
    r"node\(s\) didn't match pod topology spread constraint",
    # Of releases between the simulated ones.
    r"node (?:is|was) filtered out by the prefilter result",
)
#: Reasons of v1.27.1 that v1.36 words differently or does not have.
_ONLY_V1_27: Final = (
    r"node\(s\) had untolerated taint \{.*\}",
    r"node\(s\) had volume node affinity conflict",
    r"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    r"node\(s\) exceed max volume count for .*",
    r"waiting for resource driver to (?:allocate resource|provide information)",
)
#: Reasons that v1.27.1 words differently or does not have.
_ONLY_V1_36: Final = (
    r"node\(s\) had untolerated taint\(s\)",
    r"node\(s\) didn't match PersistentVolume's node affinity",
    r"node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    r"node\(s\) didn't satisfy plugin\(s\) \[.*\]",
    r"node\(s\) didn't match Pod's required features",
    r"\S+ CSI driver is not installed on the node",
    r"not found|All PostFilter plugins are skipped",
    r"cannot allocate all claims|no new claims to deallocate|still not schedulable|(?:deallocation|deletion) of ResourceClaim completed",
    r"request .+: device class \S+ does not exist",
    r"resourceclaim (?:not available on the node|in use)",
    r"(?:claim|class) \S+: selector #\d+: CEL .*",
    r"running \"DynamicResources\" filter plugin: .*",
    r"(?:node allocatable resource claim|claim .*: node-allocatable resource claim|pod level request for) .*",
    r"No preemption victims found for incoming preemptor",
    r"preemption: (?:pod group for pod not found|not eligible due to (?:placement-based|workload aware) .*)",
    r"waiting for the preemption for this pod(?: group)? to be finished",
    r"waiting for (?:pods's pod group|minCount pods from a gang) .*",
    r"pod group is (?:unschedulable|waiting for preemption to complete)|no feasible placements found|0/\d+ placements are available, .*",
)


#: Reasons of v1.27.1, and what v1.36 says instead.
_REWORDED: Final = (
    (re.compile(r"node\(s\) had untolerated taint \{.*\}"), "node(s) had untolerated taint(s)"),
    (re.compile(r"node\(s\) had volume node affinity conflict"), "node(s) didn't match PersistentVolume's node affinity"),
    (
        re.compile(r"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"),
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    ),
)


def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_RULES: Final[tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]] = (
    (_compiled(_OLDER), ()),
    (_compiled(_ONLY_V1_27), (V1_27,)),
    (_compiled(_ONLY_V1_36), (V1_36,)),
)


def releases_of(reason: str) -> tuple[str, ...]:
    """The simulated releases that give this reason, for a reason that a default plugin gives; empty: only older ones do."""
    return next((releases for pattern, releases in _RULES if pattern.fullmatch(reason)), RELEASES)


def in_newest_words(reason: str) -> str:
    """The reason as the newest release words it. It may tell less: v1.36 does not name taints."""
    return next((words for pattern, words in _REWORDED if pattern.fullmatch(reason)), reason)
