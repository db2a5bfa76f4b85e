import type { BindingView, CycleView, StageView } from "../generated";
import type { State } from "../state/state";

/** The stages of a successful binding cycle, in order. */
const STAGES = ["WaitOnPermit", "PreBind", "Bind", "FinishBinding", "PostBind", "Confirm"];
/** Those of v1.36. Its PreBindPreFlight comes first, so it is never ahead. */
const STAGES_V1_36 = STAGES.filter((stage) => stage !== "FinishBinding");
const FAILED = "Unreserve";

/** One stage of a binding cycle. */
export interface BindingStage {
  name: string;
  /** Its result; undefined: it has not ended, or its result is no longer known. */
  view: StageView | undefined;
  reached: "ended" | "next" | "ahead";
}

/** The stages of a binding cycle in progress that ended, the next one, and those that a successful binding still passes. */
export function bindingStagesOf(binding: BindingView, release: string): BindingStage[] {
  const ended = binding.stages ?? [];
  const next = binding.nextStage ?? "";
  const failed = next === FAILED || ended.some(({ stage }) => stage === FAILED);
  const names = new Set([...ended.map(({ stage }) => stage), ...(next ? [next] : []), ...(failed ? [] : release === "v1.36" ? STAGES_V1_36 : STAGES)]);
  return [...names].map((name) => {
    const view = ended.find(({ stage }) => stage === name);
    return { name, view, reached: view ? "ended" : name === next ? "next" : "ahead" };
  });
}

/** The stages that the preview of a cycle names. Those between them only record what they did. */
export const MAIN_BINDING_STAGES = ["WaitOnPermit", "PreBind", "Bind", "Confirm"] as const;

/** The binding of a cycle's pod at one moment: its main stages. `phase`: what the API server and the scheduler's cache know of it. */
export interface CycleBinding {
  stages: BindingStage[];
  phase: "assumed" | "written" | "bound" | "failed";
}

/** Whether the scheduler has processed the watch event of a binding, which ends the wait at Confirm. */
export function isConfirmed({ pod, node, nextStage }: BindingView, state: State): boolean {
  const known = state.podState(pod);
  return nextStage === "Confirm" && known?.node === node && !known.assumed;
}

/** The binding that follows a cycle; null: none follows, or its pod has since been deleted or tried again. */
export function bindingOfCycle(cycle: CycleView, state: State): CycleBinding | null {
  if (cycle.outcome !== "scheduled") return null;
  const binding = state.bindings.find(({ pod, cycle: of }) => pod === cycle.pod && of === cycle.cycle);
  if (!binding) {
    const pod = state.podState(cycle.pod);
    if (pod?.node !== cycle.node) return null;
    const reached = pod?.assumed ? "ahead" : "ended";
    return { stages: MAIN_BINDING_STAGES.map((name) => ({ name, view: undefined, reached })), phase: pod?.assumed ? "assumed" : "bound" };
  }
  // The main stages are those of both releases.
  const all = bindingStagesOf(binding, "");
  const failed = all.some(({ name }) => name === FAILED);
  const stages = all.filter(({ name }) => name === FAILED || MAIN_BINDING_STAGES.some((main) => main === name));
  // The cache has the pod as bound as soon as it has processed the watch event; the binding ends a few events later.
  if (!failed && isConfirmed(binding, state)) return { stages: stages.map((stage) => ({ ...stage, reached: "ended" })), phase: "bound" };
  // Until a stage between two main ones has ended, the later of the two is next.
  const next = stages.find(({ reached }) => reached !== "ended");
  if (next) stages[stages.indexOf(next)] = { ...next, reached: "next" };
  const isWritten = stages.some(({ name, reached }) => name === "Bind" && reached === "ended");
  return { stages, phase: failed ? "failed" : isWritten ? "written" : "assumed" };
}
