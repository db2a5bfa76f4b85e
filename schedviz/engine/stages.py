"""The names of the stages of cycles, and `Stage`, a row of a table of stages.

The tables, with the order of stages and their successors, are `SchedulingCycle.STAGES`, `BindingCycle.STAGES`, `PodGroupCycle.STAGES` and
`PreemptionTask.STAGES`. docs/wire.md ("Stage facts") lists the facts that each stage records, by their names in JSON.
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

#: v1.36 only, with the feature gate NominatedNodeNameForExpectation.
PRE_BIND_PRE_FLIGHT: Final = "PreBindPreFlight"
WAIT_ON_PERMIT: Final = "WaitOnPermit"
PRE_BIND: Final = "PreBind"
BIND: Final = "Bind"
#: v1.27.1 only.
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
