import type { CycleView } from "../generated";
import { isRejection } from "./statuses";

/** The Status whose path is shown. */
export interface SelectedStatus {
  stage: string;
  code: string;
  plugin: string;
  reasons: readonly string[];
}

/** The effect of a Status; the page has a sentence for each. */
export type Effect =
  | "goesOn"
  | "skipsFilter"
  | "skipsScore"
  | "nextBinder"
  | "rejectsNode"
  | "rejectsNodeForGood"
  | "rejectsAllNodes"
  | "nominates"
  | "findsNoVictims"
  | "waits"
  | "undoes"
  | "ends";

/** A step on the path of a Status: a function of upstream, or its result. */
export interface PathStep {
  name: string;
  /** What the step did in this cycle, in the scheduler's words. */
  detail: string;
}

/** Stages that follow Assume: a failure in them reverts the reservations and forgets the assumed pod. */
const AFTER_ASSUME = new Set(["Reserve", "Permit", "PreBindPreFlight", "WaitOnPermit", "PreBind", "Bind"]);

/** Upstream: schedule_one.go and framework/runtime/framework.go, by extension point. */
export function effectOf({ stage, code }: SelectedStatus): Effect {
  if (code === "Success") return stage === "PostFilter" ? "nominates" : "goesOn";
  if (code === "Skip") return stage === "PreFilter" ? "skipsFilter" : stage === "PreScore" ? "skipsScore" : stage === "Bind" ? "nextBinder" : "goesOn";
  if (code === "Wait") return stage === "Permit" ? "waits" : "ends";
  if (isRejection(code)) {
    if (stage === "Filter") return code === "Unschedulable" ? "rejectsNode" : "rejectsNodeForGood";
    if (stage === "PreFilter") return "rejectsAllNodes";
    if (stage === "PostFilter") return "findsNoVictims";
  }
  return AFTER_ASSUME.has(stage) ? "undoes" : "ends";
}

/** Whether a Status with this effect makes the shown cycle fail for its pod. */
function failsCycle(effect: Effect, cycle: CycleView): boolean {
  if (effect === "rejectsNode" || effect === "rejectsNodeForGood") return cycle.outcome === "unschedulable" && (cycle.feasibleNodes ?? 0) === 0;
  return ["rejectsAllNodes", "nominates", "findsNoVictims", "undoes", "ends"].includes(effect);
}

/**
 * The path of a Status through schedulePod, schedulingCycle and handleSchedulingFailure, with the result of each step in this cycle; empty
 * if the cycle continued. `queue`: the queue that the pod is in now.
 */
export function pathOfStatus(status: SelectedStatus, cycle: CycleView, queue: string): PathStep[] {
  const effect = effectOf(status);
  if (!failsCycle(effect, cycle)) return [];
  const failure = cycle.stages?.find((view) => view.stage === "HandleSchedulingFailure")?.facts ?? {};
  const textOf = (name: string): string => (typeof failure[name] === "string" ? failure[name] : "");
  const steps: PathStep[] = [];
  const failedBeforeAssume = effect !== "undoes";
  if (failedBeforeAssume) steps.push({ name: "schedulePod", detail: cycle.conditionReason === "SchedulerError" ? "error" : "FitError" });
  steps.push({ name: AFTER_ASSUME.has(status.stage) && status.stage !== "Reserve" && status.stage !== "Permit" ? "bindingCycle" : "schedulingCycle", detail: "" });
  if (failedBeforeAssume && cycle.stages?.some((view) => view.stage === "PostFilter")) steps.push({ name: "RunPostFilterPlugins", detail: "" });
  if (!failedBeforeAssume) steps.push({ name: "RunReservePluginsUnreserve", detail: "" }, { name: "ForgetPod", detail: "" });
  steps.push({ name: "handleSchedulingFailure", detail: textOf("reason") || (cycle.conditionReason ?? "") });
  if (failure["requeued"] !== false) steps.push({ name: "AddUnschedulableIfNotPresent", detail: queue });
  const reason = textOf("reason") || cycle.conditionReason;
  if (reason) steps.push({ name: "PodScheduled=False", detail: reason });
  steps.push({ name: "FailedScheduling", detail: "Warning" });
  return steps;
}
