"""`PreemptionTask`: an asynchronous preemption of v1.36, as a value that runs stage by stage while scheduling cycles go on.

Upstream: framework/preemption/executor.go prepareCandidateAsync (a goroutine)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from schedviz.engine import stages
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.object_table import ObjectTable, PodRef
from schedviz.engine.framework.preemption.executor import Executor
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.stages import Stage
from schedviz.kube.core import Pod
from schedviz.trace.events import PreemptionStageEnded, PreemptionStarted
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import PreemptionView

CLEAR_NOMINATIONS: Final = "ClearNominations"
EVICT_VICTIMS: Final = "EvictVictims"
EVICT_LAST_VICTIM: Final = "EvictLastVictim"

#: The informers' pod of a namespace and name, or None.
FindPod = Callable[[str, str], Pod | None]
#: Moves pods to activeQ, by key.
Activate = Callable[[Iterable[str]], object]


class PodGroupPreemptorState(msgspec.Struct, frozen=True):
    """A Preemptor of the kind `podgroup`."""

    uid: str
    key: str
    priority: int
    pods: list[PodRef]


class PreemptionTaskState(msgspec.Struct, frozen=True):
    """A PreemptionTask in a checkpoint."""

    #: The pod; for a pod group, the first of its pods.
    preemptor: PodRef
    node: str
    victims: list[PodRef]
    profile: str
    plugin: str
    stage: str
    evicted: int
    has_failed: bool
    #: The pod group; None: the preemptor is a pod.
    group: PodGroupPreemptorState | None = None
    cycle: int = 0


class PreemptionTask:
    """One preemption: `advance` runs a stage, or evicts one victim of it. `STAGES`, below the stages' methods, has their order."""

    def __init__(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo], *, profile: str, plugin: str, cycle: int = 0) -> None:
        self.preemptor = preemptor
        self.node = node
        #: The pods to evict: at least one, and none was terminating when the preemption began.
        self.victims = tuple(victims)
        #: The profile and the plugin that began it.
        self.profile = profile
        self.plugin = plugin
        #: The scheduling cycle that began it.
        self.cycle = cycle
        #: The stage that `advance` runs next; ENDED: none.
        self.stage = CLEAR_NOMINATIONS
        #: How many victims were evicted.
        self.evicted = 0
        #: An API call has failed.
        self.has_failed = False
        #: The API server's error in the last stage.
        self.error = ""

    @property
    def has_ended(self) -> bool:
        """Whether no stage is left to run."""
        return self.stage == stages.ENDED

    def blocks_preemptor(self, find_pod: FindPod) -> bool:
        """Whether the preemptor has to wait: until the last victim is gone or terminating. Upstream: isRunningPreemption

        The last one is evicted after the others: if the preemptor were tried again before, it would evict them once more.
        """
        if self.stage != EVICT_LAST_VICTIM:
            return not self.has_ended
        last = self.victims[-1]
        pod = find_pod(last.namespace, last.name)
        return pod is not None and pod.metadata.deletion_timestamp is None

    def advance(self, handle: Handle) -> None:
        """Run the next stage; EvictVictims evicts one victim and may be run again. `handle`: of the task's profile."""
        self.error = ""
        self.stage = self.STAGES[self.stage].run(self, Executor(handle, self.plugin))

    def _clear_nominations(self, executor: Executor) -> str:
        """Pods of lower priority look for another node at once. An error does not end the preemption."""
        if not executor.clear_lower_nominations(self.preemptor, self.node):
            self.has_failed = True
            self.error = "a nomination could not be cleared"
        return EVICT_VICTIMS if len(self.victims) > 1 else EVICT_LAST_VICTIM

    def _evict_victims(self, executor: Executor) -> str:
        """Evict all victims but the last. Upstream evicts several at once; in this order with Parallelism 1."""
        if not self._evict(executor):
            # Without the last one, so that the preemptor is tried again sooner.
            return stages.ENDED
        return EVICT_VICTIMS if self.evicted < len(self.victims) - 1 else EVICT_LAST_VICTIM

    def _evict_last_victim(self, executor: Executor) -> str:
        self._evict(executor)
        return stages.ENDED

    def _evict(self, executor: Executor) -> bool:
        """Evict the next victim. False: the eviction failed."""
        error = executor.evict(self.victims[self.evicted], self.preemptor, self.node)
        if error is not None:
            self.has_failed, self.error = True, error.message
            return False
        self.evicted += 1
        return True

    #: The stages in upstream's order, and what can follow each.
    STAGES: ClassVar[Mapping[str, Stage[Callable[[PreemptionTask, Executor], str]]]] = stages.table(
        Stage(CLEAR_NOMINATIONS, _clear_nominations, (EVICT_VICTIMS, EVICT_LAST_VICTIM)),
        Stage(EVICT_VICTIMS, _evict_victims, (EVICT_VICTIMS, EVICT_LAST_VICTIM, stages.ENDED)),
        Stage(EVICT_LAST_VICTIM, _evict_last_victim, (stages.ENDED,)),
    )

    def to_state(self, table: ObjectTable) -> PreemptionTaskState:
        """The state for a checkpoint."""
        return PreemptionTaskState(
            preemptor=table.pod_info_ref(self.preemptor.pods[0]),
            group=_group_state(self.preemptor, table),
            node=self.node,
            victims=[table.pod_info_ref(victim) for victim in self.victims],
            profile=self.profile,
            plugin=self.plugin,
            stage=self.stage,
            evicted=self.evicted,
            has_failed=self.has_failed,
            cycle=self.cycle,
        )

    def to_view(self) -> PreemptionView:
        """The task as a page draws it."""
        return PreemptionView(
            preemptor=self.preemptor.key,
            pods=[pod.key for pod in self.preemptor.pods],
            node=self.node,
            victims=[victim.key for victim in self.victims],
            cycle=self.cycle,
            plugin=self.plugin,
            next_stage=self.stage,
            evicted=self.evicted,
        )

    @classmethod
    def from_state(cls, state: PreemptionTaskState, table: ObjectTable) -> PreemptionTask:
        """The task of a state."""
        victims = [table.pod_info(victim) for victim in state.victims]
        task = cls(_preemptor_of(state, table), state.node, victims, profile=state.profile, plugin=state.plugin, cycle=state.cycle)
        task.stage, task.evicted, task.has_failed = state.stage, state.evicted, state.has_failed
        return task


def _group_state(preemptor: Preemptor, table: ObjectTable) -> PodGroupPreemptorState | None:
    if preemptor.kind == "pod":
        return None
    pods = [table.pod_info_ref(pod) for pod in preemptor.pods]
    return PodGroupPreemptorState(preemptor.uid, preemptor.key, preemptor.priority, pods)


def _preemptor_of(state: PreemptionTaskState, table: ObjectTable) -> Preemptor:
    group = state.group
    if group is None:
        return Preemptor.of_pod(table.pod_info(state.preemptor))
    return Preemptor("podgroup", group.uid, group.key, group.priority, tuple(map(table.pod_info, group.pods)))


class PreemptionTasks:
    """The preemptions of a scheduler that have not ended, oldest first. It is its plugins' `AsyncPreemptions`."""

    def __init__(self, find_pod: FindPod, recorder: Recorder) -> None:
        self._find_pod = find_pod
        self._recorder = recorder
        self.running: list[PreemptionTask] = []

    def start(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo], *, profile: str, plugin: str) -> None:
        """Begin a preemption. Its first stage runs in `advance`."""
        task = PreemptionTask(preemptor, node, victims, profile=profile, plugin=plugin, cycle=self._recorder.cycle)
        self.running.append(task)
        view = task.to_view()
        self._recorder.record(
            PreemptionStarted,
            preemptor=view.preemptor,
            pods=view.pods,
            node=view.node,
            victims=view.victims,
            plugin=view.plugin,
            next_stage=view.next_stage,
        )

    def is_running_for(self, uid: str) -> bool:
        """Whether the pod or pod group waits for its victims: PreEnqueue gates it."""
        return any(task.blocks_preemptor(self._find_pod) for task in self.running if task.preemptor.uid == uid)

    def advance(self, task: PreemptionTask, handle: Handle, activate: Activate) -> None:
        """Run the next stage of a task. If the task ends with an error, the preemptor is activated: no event would move it."""
        stage, evicted = task.stage, task.evicted
        task.advance(handle)
        self._recorder.record_in_cycle(
            task.cycle,
            PreemptionStageEnded,
            preemptor=task.preemptor.key,
            node=task.node,
            stage=stage,
            next_stage=task.stage,
            victim="" if stage == CLEAR_NOMINATIONS else task.victims[evicted].key,
            evicted=task.evicted,
            error=task.error,
        )
        if task.has_ended:
            self.running.remove(task)
            if task.has_failed:
                activate([pod.key for pod in task.preemptor.pods])

    def run(self, task: PreemptionTask, handle: Handle, activate: Activate) -> None:
        """Run a task to its end."""
        while not task.has_ended:
            self.advance(task, handle, activate)

    def to_state(self, table: ObjectTable) -> list[PreemptionTaskState]:
        """The state for a checkpoint."""
        return [task.to_state(table) for task in self.running]

    def load(self, states: Sequence[PreemptionTaskState], table: ObjectTable) -> None:
        """Load the state of `to_state`."""
        self.running = [PreemptionTask.from_state(state, table) for state in states]
