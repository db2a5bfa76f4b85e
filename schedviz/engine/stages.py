"""The names of the stages of both cycles, the facts that each stage records, and `Stage`, a row of a cycle's table of stages.

The tables, with the order of stages and their successors, are `SchedulingCycle.STAGES` and `BindingCycle.STAGES`.

A `StageEnded` (or `BindingStageEnded`) has the statuses that plugins returned, the rejections by plugin and reason, and a dict of
facts. The facts, by stage:

- `Pop`: `priority`, `queuedSeconds` (since the pod was last added to the queue), `waitedSeconds` (since it was first added).
- `SkipPodSchedule`: `skipped` ("deleting" | "assumed"; absent if the pod is not skipped).
- `UpdateSnapshot`: `visited`, `cloned` (numbers of list items), `nodes` (in the snapshot), `generation`.
- `PreFilter`: `skipped` (plugins whose Filter is skipped), `nodes` (left by a PreFilterResult; absent if all nodes are left).
- `NominatedNode`: `node`, `fits`, `error`.
- `Filter`: `start` (nextStartNodeIndex), `wanted` (numFeasibleNodesToFind), `evaluated`, `feasible`, `nodes` (number of candidates),
  `next` (nextStartNodeIndex afterwards), `error`.
- `ExtenderFilter`: `extender`, `feasible`, `failed`, `unresolvable`, `error`, `ignored`.
- `PostFilter`: `nominatedNode`, `candidates`, `victims` (pods), `rule` (the rule of preemption.RULES that chose the candidate).
- `PreScore`: `skipped`.
- `Score`: `plugins`, `nodes` (their number); `priorities` if the session's policies ask for v1.14's (docs/policies.md).
- `NormalizeScore`: none.
- `ExtenderPrioritize`: `extenders` (those that answered).
- `SelectHost`: `node`, `total`, `tied` (number of nodes with that total), `reason` ("only one" if nothing was scored).
- `Assume`: `node`, `error`.
- `Reserve`, `Permit`: statuses only; `Permit` has `waitSeconds` if the pod waits.
- `Activate`: `pods`.
- `Unreserve`: `plugins`. `ForgetPod`: `error`.
- `HandleSchedulingFailure`: `reason` (of the pod's condition), `message`, `requeued` (whether the pod was added to the queue again).
- `PreBindPreFlight` (v1.36): `nominatedNode` if the nomination was written.
- `WaitOnPermit`, `PreBind`: statuses only. `Bind`: `node`, `error`. `FinishBinding`: none.
  `PostBind`: `activated` (pods that a plugin asked to move to activeQ).
- `MoveAll`: none.

The facts of a `PodGroupStageEnded`, by stage:

- `Pop`: `pods` (that were popped), `notQueued` (unscheduled pods of the group that are gated, or in no queue).
- `SkipPodSchedule`: `skipped` (pods that are being deleted, or assumed).
- `UpdateSnapshot`: `nodes`, `generation`.
- `GeneratePlacements`: `placements` (their names), `error`.
- `TryPods`: `placement` (if there are several), `placed`, `failed` (pods), `code`, `message`, `waitingOnPreemption`.
- `RevertPods`: `pods`, `plugins` (whose Unreserve ran).
- `ChoosePlacement`: `placement`, `scores` (by placement), `error`.
- `PodGroupPostFilter`: `code`, `message`, `victims`.
- `SubmitPods`: `scheduled`, `failed` (pods).
- `UpdatePodGroupCondition`: `status`, `reason`, `message` (of the condition PodGroupScheduled), `written`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

POP: Final = "Pop"
SKIP_POD_SCHEDULE: Final = "SkipPodSchedule"
UPDATE_SNAPSHOT: Final = "UpdateSnapshot"
PRE_FILTER: Final = "PreFilter"
NOMINATED_NODE: Final = "NominatedNode"
FILTER: Final = "Filter"
EXTENDER_FILTER: Final = "ExtenderFilter"
POST_FILTER: Final = "PostFilter"
PRE_SCORE: Final = "PreScore"
SCORE: Final = "Score"
NORMALIZE_SCORE: Final = "NormalizeScore"
EXTENDER_PRIORITIZE: Final = "ExtenderPrioritize"
SELECT_HOST: Final = "SelectHost"
ASSUME: Final = "Assume"
RESERVE: Final = "Reserve"
PERMIT: Final = "Permit"
ACTIVATE: Final = "Activate"
UNRESERVE: Final = "Unreserve"
FORGET_POD: Final = "ForgetPod"
HANDLE_SCHEDULING_FAILURE: Final = "HandleSchedulingFailure"

#: v1.36: a pod of a group was tried, and waits for the group's result.
WAIT_FOR_POD_GROUP: Final = "WaitForPodGroup"
GENERATE_PLACEMENTS: Final = "GeneratePlacements"
TRY_PODS: Final = "TryPods"
REVERT_PODS: Final = "RevertPods"
CHOOSE_PLACEMENT: Final = "ChoosePlacement"
POD_GROUP_POST_FILTER: Final = "PodGroupPostFilter"
SUBMIT_PODS: Final = "SubmitPods"
UPDATE_POD_GROUP_CONDITION: Final = "UpdatePodGroupCondition"

PRE_BIND_PRE_FLIGHT: Final = "PreBindPreFlight"
WAIT_ON_PERMIT: Final = "WaitOnPermit"
PRE_BIND: Final = "PreBind"
BIND: Final = "Bind"
FINISH_BINDING: Final = "FinishBinding"
POST_BIND: Final = "PostBind"
MOVE_ALL: Final = "MoveAll"
CONFIRM: Final = "Confirm"

#: `next_stage` of a cycle that has ended.
ENDED: Final = ""

Run = TypeVar("Run", bound=Callable[..., object])


class Stage(NamedTuple, Generic[Run]):
    """One stage of a cycle."""

    name: str
    #: The cycle's method that runs the stage.
    run: Run
    #: The stages that can follow, the usual one first; ENDED: the cycle can end here.
    then: tuple[str, ...]


def table(*stages: Stage[Run]) -> Mapping[str, Stage[Run]]:
    """Stages by name, in the order of the cycle."""
    return MappingProxyType({stage.name: stage for stage in stages})


def overridden(stages: Mapping[str, Stage[Any]], runs: Mapping[str, Callable[..., Any]]) -> Mapping[str, Stage[Any]]:
    """The same stages, some of them run by other methods."""
    return table(*(stage._replace(run=runs.get(name, stage.run)) for name, stage in stages.items()))
