"""The stages of the two cycles, by name and in order, and the facts that each of them tells.

A `StageEnded` (or `BindingStageEnded`) has the statuses that plugins answered, the rejections by plugin and reason, and a dict of
facts. The facts, by stage:

- `Pop`: `priority`, `queuedSeconds` (since the pod came to the queue this time), `waitedSeconds` (since it came first).
- `SkipPodSchedule`: `skipped` ("deleting" | "assumed"; left out when it is not skipped).
- `UpdateSnapshot`: `visited`, `cloned` (how many items of the list), `nodes` (in the snapshot), `generation`.
- `PreFilter`: `skipped` (plugins whose Filter is left out), `nodes` (left by a PreFilterResult; left out when all are).
- `NominatedNode`: `node`, `fits`, `error`.
- `Filter`: `start` (nextStartNodeIndex), `wanted` (numFeasibleNodesToFind), `evaluated`, `feasible`, `nodes` (of which it could choose),
  `next` (nextStartNodeIndex afterwards), `error`.
- `ExtenderFilter`: `extender`, `feasible`, `failed`, `unresolvable`, `error`, `ignored`.
- `PostFilter`: `nominatedNode`, `candidates`, `victims` (pods), `rule` (that chose among candidates, of preemption.RULES).
- `PreScore`: `skipped`.
- `Score`: `plugins`, `nodes` (how many); `priorities` where the session's policies ask for v1.14's (docs/policies.md).
- `NormalizeScore`: nothing.
- `ExtenderPrioritize`: `extenders` (how many answered).
- `SelectHost`: `node`, `total`, `tied` (how many share it), `reason` ("only one" where nothing was scored).
- `Assume`: `node`, `error`.
- `Reserve`, `Permit`: nothing but statuses; `Permit` has `waitSeconds` where the pod waits.
- `Activate`: `pods`.
- `Unreserve`: `plugins`. `ForgetPod`: `error`.
- `HandleSchedulingFailure`: `reason` (of the pod's condition), `message`, `requeued` (whether the pod went back to the queue).
- `WaitOnPermit`, `PreBind`: nothing but statuses. `Bind`: `node`, `error`. `FinishBinding`: nothing.
  `PostBind`: `activated` (pods that a plugin wanted in activeQ).
- `MoveAll`: nothing.
"""

from __future__ import annotations

from typing import Final

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

WAIT_ON_PERMIT: Final = "WaitOnPermit"
PRE_BIND: Final = "PreBind"
BIND: Final = "Bind"
FINISH_BINDING: Final = "FinishBinding"
POST_BIND: Final = "PostBind"
MOVE_ALL: Final = "MoveAll"
CONFIRM: Final = "Confirm"

#: What `next_stage` says of a cycle that has ended.
ENDED: Final = ""

#: A scheduling cycle in order. NominatedNode, ExtenderFilter, ExtenderPrioritize and Activate come up only where there is something to do;
#: PostFilter, Unreserve, ForgetPod and HandleSchedulingFailure only on failure.
SCHEDULING_STAGES: Final = (
    POP,
    SKIP_POD_SCHEDULE,
    UPDATE_SNAPSHOT,
    PRE_FILTER,
    NOMINATED_NODE,
    FILTER,
    EXTENDER_FILTER,
    POST_FILTER,
    PRE_SCORE,
    SCORE,
    NORMALIZE_SCORE,
    EXTENDER_PRIORITIZE,
    SELECT_HOST,
    ASSUME,
    RESERVE,
    PERMIT,
    ACTIVATE,
    UNRESERVE,
    FORGET_POD,
    HANDLE_SCHEDULING_FAILURE,
)

#: A binding cycle in order. Unreserve to HandleSchedulingFailure only on failure; Confirm is not a stage that runs but what is awaited.
BINDING_STAGES: Final = (
    WAIT_ON_PERMIT,
    PRE_BIND,
    BIND,
    FINISH_BINDING,
    POST_BIND,
    UNRESERVE,
    FORGET_POD,
    MOVE_ALL,
    HANDLE_SCHEDULING_FAILURE,
    CONFIRM,
)
