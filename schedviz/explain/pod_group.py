"""What a pod's group means for it: the pods of a gang (v1.36, gate GangScheduling) are only scheduled together."""

from __future__ import annotations

from typing import NamedTuple

from schedviz.engine import Simulation
from schedviz.engine.framework.pod_groups import group_of
from schedviz.kube.core import Pod
from schedviz.kube.workloads import PodGroup
from schedviz.trace.phrase import Phrase, counted, phrase


class GroupNote(NamedTuple):
    """A sentence about the pod's group, and whether the group keeps the pod out of activeQ."""

    sentence: Phrase
    holds_back: bool


def group_note(simulation: Simulation, pod: Pod) -> GroupNote | None:
    """None if the pod belongs to no group, if its group has no minimum, or if the session's gates are off."""
    group = group_of(pod)
    framework = simulation.scheduler.state.profiles.get(pod.spec.scheduler_name)
    if group is None or framework is None or not simulation.scheduler.state.features.gang_scheduling:
        return None
    pod_group = simulation.scheduler.state.informers.get("PodGroup", group.namespace, group.name)
    if not isinstance(pod_group, PodGroup):
        return GroupNote(phrase("It is not tried until its pod group {group} exists.", group=group.key), holds_back=True)
    gang = pod_group.spec.scheduling_policy.gang
    if gang is None:
        return None
    try:
        present = len(framework.pod_groups.pod_group(group.key).all_pods)
    except LookupError:
        present = 0
    if present < gang.min_count:
        return GroupNote(
            phrase(
                "It is not tried until its pod group {group} has {least}; it has {present} now.",
                group=group.key,
                least=counted(gang.min_count, "{count} pod", "{count} pods"),
                present=present,
            ),
            holds_back=True,
        )
    return GroupNote(
        phrase(
            "It belongs to the pod group {group}, whose pods are scheduled together: at least {least} must fit at the same time.",
            group=group.key,
            least=counted(gang.min_count, "{count} pod", "{count} pods"),
        ),
        holds_back=False,
    )
