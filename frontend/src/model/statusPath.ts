import type { CycleView } from "./generated";
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

/** A step of a Status on its way: a function of upstream, or its result. */
export interface Station {
  name: string;
  /** What the step did in this cycle, in the scheduler's words. */
  detail: string;
}

/** Stages after which a failure reverts the reservations and forgets the assumed pod. */
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
export function pathOfStatus(status: SelectedStatus, cycle: CycleView, queue: string): Station[] {
  const effect = effectOf(status);
  if (!failsCycle(effect, cycle)) return [];
  const failure = cycle.stages?.find((view) => view.stage === "HandleSchedulingFailure")?.facts ?? {};
  const textOf = (name: string): string => (typeof failure[name] === "string" ? failure[name] : "");
  const stations: Station[] = [];
  const fits = effect !== "undoes";
  if (fits) stations.push({ name: "schedulePod", detail: cycle.conditionReason === "SchedulerError" ? "error" : "FitError" });
  stations.push({ name: AFTER_ASSUME.has(status.stage) && status.stage !== "Reserve" && status.stage !== "Permit" ? "bindingCycle" : "schedulingCycle", detail: "" });
  if (fits && cycle.stages?.some((view) => view.stage === "PostFilter")) stations.push({ name: "RunPostFilterPlugins", detail: "" });
  if (!fits) stations.push({ name: "RunReservePluginsUnreserve", detail: "" }, { name: "ForgetPod", detail: "" });
  stations.push({ name: "handleSchedulingFailure", detail: textOf("reason") || (cycle.conditionReason ?? "") });
  if (failure["requeued"] !== false) stations.push({ name: "AddUnschedulableIfNotPresent", detail: queue });
  const reason = textOf("reason") || cycle.conditionReason;
  if (reason) stations.push({ name: "PodScheduled=False", detail: reason });
  stations.push({ name: "FailedScheduling", detail: "Warning" });
  return stations;
}
