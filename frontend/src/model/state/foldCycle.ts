import type {
  BindingEnded,
  BindingReleased,
  BindingStageEnded,
  BindingStarted,
  BindingView,
  CycleEnded,
  CycleStarted,
  PermitAnswered,
  StageEnded,
  StageView,
} from "../generated";
import { beginCycle, cycleOf, putCycle } from "./foldPodGroup";
import type { State } from "./state";

/** The stage of a binding cycle in which the pod waits for Permit plugins. */
const WAIT_ON_PERMIT = "WaitOnPermit";

export function foldCycleStarted(state: State, event: CycleStarted): void {
  beginCycle(state, {
    cycle: event.cycle ?? 0,
    pod: event.pod,
    podGroup: event.podGroup ?? "",
    profile: event.profile ?? "",
    attempts: event.attempts ?? 0,
    atSeconds: event.at,
    allNodes: event.allNodes ?? 0,
  });
}

export function foldStageEnded(state: State, event: StageEnded): void {
  const cycle = cycleOf(state, event);
  if (!cycle) return;
  const stages = [...(cycle.stages ?? []), stageOf(event)];
  putCycle(state, { ...cycle, stages, nextStage: event.nextStage ?? "" });
  // An UpdateSnapshot that stopped at headNode changed nothing and has no event of its own.
  if (event.stage === "UpdateSnapshot" && event.facts?.["visited"] === 0)
    state.lastWalk = { event: event.event, visited: new Set(), cloned: new Set() };
}

export function foldCycleEnded(state: State, event: CycleEnded): void {
  state.nextStartNodeIndex = event.nextStartNodeIndex ?? 0;
  const cycle = cycleOf(state, event);
  if (!cycle) return;
  putCycle(state, {
    ...cycle,
    nextStage: "",
    outcome: event.outcome,
    node: event.node,
    message: event.message ?? "",
    conditionReason: event.conditionReason ?? "",
    evaluatedNodes: event.evaluatedNodes ?? 0,
    feasibleNodes: event.feasibleNodes ?? 0,
    numFeasibleNodesToFind: event.numFeasibleNodesToFind ?? 0,
    startNodeIndex: event.startNodeIndex ?? 0,
    nextStartNodeIndex: event.nextStartNodeIndex ?? 0,
    tiedNodes: event.tiedNodes ?? 0,
    tied: event.tied ?? [],
    winner: event.winner ?? null,
    runnerUp: event.runnerUp ?? null,
    unschedulablePlugins: event.unschedulablePlugins ?? [],
  });
}

export function foldBindingStarted(state: State, event: BindingStarted): void {
  const binding: BindingView = {
    pod: event.pod,
    node: event.node,
    cycle: event.cycle ?? 0,
    nextStage: event.nextStage ?? "",
    stages: [],
    held: event.held ?? false,
    waitingFor: event.waitingFor ?? [],
  };
  state.bindings = [...state.bindings, binding];
}

export function foldBindingStageEnded(state: State, event: BindingStageEnded): void {
  state.bindings = state.bindings.map((binding) =>
    isOf(binding, event)
      ? {
          ...binding,
          held: false,
          // v1.36 runs a stage before the pod waits at Permit.
          waitingFor: event.nextStage === WAIT_ON_PERMIT ? (binding.waitingFor ?? []) : [],
          stages: [...(binding.stages ?? []), stageOf(event)],
          nextStage: event.nextStage ?? "",
        }
      : binding,
  );
}

export function foldBindingReleased(state: State, event: BindingReleased): void {
  state.bindings = state.bindings.map((binding) => (isOf(binding, event) ? { ...binding, held: false } : binding));
}

export function foldPermitAnswered(state: State, event: PermitAnswered): void {
  state.bindings = state.bindings.map((binding) =>
    isOf(binding, event) ? { ...binding, waitingFor: event.waitingFor ?? [] } : binding,
  );
}

export function foldBindingEnded(state: State, event: BindingEnded): void {
  state.bindings = state.bindings.filter((binding) => !isOf(binding, event));
}

/** A pod that was bound, lost and bound again has a binding for each of its cycles. */
function isOf(binding: BindingView, event: BindingReleased | BindingStageEnded | BindingEnded | PermitAnswered): boolean {
  return binding.pod === event.pod && binding.cycle === (event.cycle ?? 0);
}

function stageOf(event: StageEnded | BindingStageEnded): StageView {
  return {
    stage: event.stage,
    statuses: event.statuses ?? [],
    rejections: event.t === "stageEnded" ? (event.rejections ?? []) : [],
    facts: event.facts ?? {},
  };
}
