import type { ApiCallChanged, PreemptionStageEnded, PreemptionStarted, PreemptionView } from "../generated";
import type { State } from "./state";

/** v1.36: what runs beside the cycles. Each of them is few at a time, so lists are replaced. */
export function foldPreemptionStarted(state: State, event: PreemptionStarted): void {
  const { preemptor, pods, node, victims, plugin, nextStage } = event;
  state.preemptions = [...state.preemptions, { preemptor, pods, node, victims, plugin, nextStage, cycle: event.cycle ?? 0, evicted: 0 }];
}

export function foldPreemptionStageEnded(state: State, event: PreemptionStageEnded): void {
  const index = state.preemptions.findIndex((preemption) => isOf(preemption, event));
  if (index < 0) return;
  const nextStage = event.nextStage ?? "";
  const after = { ...state.preemptions[index]!, nextStage, evicted: event.evicted ?? 0 };
  state.preemptions = state.preemptions.toSpliced(index, 1, ...(nextStage ? [after] : []));
}

/** A changed call keeps its place. */
export function foldApiCallChanged(state: State, event: ApiCallChanged): void {
  const index = state.apiCalls.findIndex((call) => call.uid === event.uid);
  const after = event.call ? [event.call] : [];
  state.apiCalls = index < 0 ? [...state.apiCalls, ...after] : state.apiCalls.toSpliced(index, 1, ...after);
}

function isOf(preemption: PreemptionView, event: PreemptionStageEnded): boolean {
  return preemption.preemptor === event.preemptor && (preemption.cycle ?? 0) === (event.cycle ?? 0);
}
