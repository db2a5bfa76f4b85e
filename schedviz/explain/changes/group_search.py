"""`GroupSearch`: finds changes with which a pod group can be scheduled. Every change is tried with a scheduling cycle of the whole
group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.pod_groups import PodGroupInfo, group_of
from schedviz.explain.changes.apply import commands_of
from schedviz.explain.changes.change import Change
from schedviz.explain.changes.more_nodes import more_nodes
from schedviz.explain.changes.next_cycle import next_cycle_of_group
from schedviz.explain.changes.search import Search
from schedviz.kube.core import Pod, PodStatus
from schedviz.kube.meta import ObjectMeta
from schedviz.kube.workloads import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from schedviz.trace.phrase import counted, phrase

#: Each dry run restores a copy of the session.
_MAX_DRY_RUNS: Final = 60
#: How many additional nodes are tried, and of how many shapes.
_MORE_NODES: Final = (1, 2, 3, 4, 6, 8, 12, 16)
_MAX_SHAPES: Final = 3
#: The largest group whose pods are changed.
_MAX_PODS: Final = 64


class GroupSearch(Search):
    """Tries changes for the group of the dry run's pod."""

    max_dry_runs = _MAX_DRY_RUNS

    def __init__(self, simulation: Simulation, dry_run: DryRun) -> None:
        super().__init__(simulation, dry_run)
        info = group_of(self.pod)
        assert info is not None
        #: The namespace and the name of the group.
        self._info: PodGroupInfo = info
        pod_group = simulation.cluster.find("PodGroup", info.key)
        #: The stored group; None: it does not exist.
        self._group = pod_group if isinstance(pod_group, PodGroup) else None
        members = [obj for obj in simulation.stored_objects() if isinstance(obj, Pod) and group_of(obj) == info]
        #: All pods of the group, and those that have no node.
        self._members = members
        self.pods = [pod for pod in members if not pod.spec.node_name and pod.metadata.deletion_timestamp is None]

    def runs_unchanged(self) -> bool:
        """Whether the next cycle schedules the group as it is."""
        return bool(self._placed(()))

    def try_group(self) -> None:
        """Try changes of the group itself: its pods, its minimum, its topology, and more nodes for it."""
        self.try_all((change,) for change in self._of_group())
        self._try_minimum()
        more = more_nodes(self.simulation, self.dry_run, counts=_MORE_NODES, shapes=_MAX_SHAPES)
        self.try_all((change,) for change in more)

    def try_one(self, changes: tuple[Change, ...]) -> bool:
        """Whether the group is scheduled after the changes. Then they are kept."""
        if len(self.pods) > _MAX_PODS and any(change.pod is not None for change in changes):
            return False
        self.count_dry_run(changes)
        nodes = self._placed(changes)
        if nodes:
            self.add_suggestion(changes, list(dict.fromkeys(nodes.values())), "groupRuns")
        return bool(nodes)

    def _placed(self, changes: Sequence[Change]) -> dict[str, str]:
        """Pod -> node of the pods that the group's next cycle schedules."""
        copy = Simulation.restore(self.simulation.checkpoint())
        copy.recorder.silent = True
        for command in commands_of(copy, self.pods, changes):
            copy.start(command)
            copy.work()
        return next_cycle_of_group(copy, self._info)

    def _of_group(self) -> Iterator[Change]:
        present = len(self._members)
        if self._group is None:
            policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=present))
            group = PodGroup(
                metadata=ObjectMeta(name=self._info.name, namespace=self._info.namespace),
                spec=PodGroupSpec(scheduling_policy=policy),
            )
            title = phrase("create the pod group {group} with `minCount` {count}", group=self._info.key, count=present)
            yield Change("member", title, against=frozenset(), updated=(group,))
            return
        missing = _min_count(self._group) - present
        if missing > 0:
            title = counted(missing, "{count} pod", "{count} pods")
            yield Change(
                "member",
                phrase("create {pods} like {pod} in the pod group {group}", pods=title, group=self._info.key, pod=self.pod.key),
                against=frozenset(),
                amount=1 - 1 / (1 + missing),
                updated=tuple(self._more_pods(missing)),
            )
        constraints = self._group.spec.scheduling_constraints
        topology = constraints.topology if constraints is not None else ()
        for constraint in topology:
            others = tuple(other for other in topology if other is not constraint)
            yield Change(
                "constraint",
                phrase("remove the topology constraint on `{key}` from the pod group {group}", key=constraint.key, group=self._info.key),
                against=frozenset(),
                updated=(self._with_topology(others),),
            )

    def _with_topology(self, topology: tuple[TopologyConstraint, ...]) -> PodGroup:
        assert self._group is not None
        constraints = PodGroupSchedulingConstraints(topology=topology) if topology else None
        return replace(self._group, spec=replace(self._group.spec, scheduling_constraints=constraints))

    def _more_pods(self, count: int) -> Iterator[Pod]:
        used_names = {pod.name for pod in self._members}
        free = (name for number in range(1, len(used_names) + count + 1) if (name := f"{self.pod.name}-more-{number}") not in used_names)
        for name in (next(free) for _ in range(count)):
            metadata = replace(self.pod.metadata, name=name, uid="", resource_version="", creation_timestamp=None)
            yield replace(self.pod, metadata=metadata, status=PodStatus())

    def _try_minimum(self) -> None:
        """The largest minCount with which the group runs: as many pods as the cycle of a group without minimum schedules."""
        if self._group is None:
            return
        before, running = _min_count(self._group), len(self._members) - len(self.pods)
        could = running + len(self._placed((self._with_minimum(1),)))
        if 0 < could < before:
            self.try_one((self._with_minimum(could),))

    def _with_minimum(self, count: int) -> Change:
        assert self._group is not None
        before = _min_count(self._group)
        policy = replace(self._group.spec.scheduling_policy, gang=GangSchedulingPolicy(min_count=count))
        return Change(
            "minimum",
            phrase(
                "lower `minCount` of the pod group {group} from {before} to {after}",
                group=self._info.key,
                after=count,
                before=before,
            ),
            against=frozenset(),
            amount=(before - count) / before if before else 0,
            updated=(replace(self._group, spec=replace(self._group.spec, scheduling_policy=policy)),),
        )


def _min_count(group: PodGroup) -> int:
    gang = group.spec.scheduling_policy.gang
    return gang.min_count if gang is not None else 0
