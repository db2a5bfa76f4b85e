import { t, type MessageKey } from "../../i18n/translate";
import type { StageRow } from "../../model/cycle/cycleStages";
import type { PodGroupPodView, StageView } from "../../model/generated";
import { mostSevere, type StatusCode } from "../../model/cycle/statuses";

/** A cycle's outcome has the color of the corresponding Status. */
const CODES: Record<string, string> = { scheduled: "Success", unschedulable: "Unschedulable", error: "Error", skipped: "Skip" };

/** A cycle's outcome in the language of the page. */
export function outcomeInWords(outcome: string): string {
  return outcome in CODES ? t(`cycle.outcome.${outcome}` as MessageKey) : outcome;
}

export function codeOfOutcome(outcome: string): string {
  return CODES[outcome] ?? "Skip";
}

/** The Status that represents a pod in the cycle of its group; null: it was not tried yet. */
export function codeOfGroupPod(pod: PodGroupPodView): string | null {
  if (pod.outcome) return codeOfOutcome(pod.outcome);
  if (!pod.code) return null;
  return pod.permit === "Wait" ? "Wait" : pod.code;
}

/** What became of a pod in the cycle of its group, as a message. */
export function resultOfGroupPod(pod: PodGroupPodView): MessageKey {
  if (pod.outcome === "scheduled") return "group.scheduled";
  if (pod.requiresPreemption) return "group.afterVictims";
  if (pod.outcome && pod.node) return "group.failedWithGroup";
  if (pod.node) return pod.permit === "Wait" ? "group.needsMore" : "group.fits";
  if (pod.code || pod.outcome) return "group.noNode";
  return pod.cycle ? "group.trying" : "group.notTried";
}

/** Represents a stage that deals with a failure: it ran, and is neither a success nor a failure itself. */
export const HANDLED = "Handled";

/** The Status that represents a stage; null before it has ended. */
export function codeOfStage(stage: StageRow): StatusCode | typeof HANDLED | null {
  if (stage.reached !== "ended") return null;
  const codes = stage.views.flatMap((view) => [...(view.statuses ?? []).map((status) => status.code), ...(view.facts?.["error"] ? ["Error"] : [])]);
  // A rejected node is no problem; a filter that leaves none is.
  if (stage.stage === "Filter" && stage.views.some((view) => view.facts?.["feasible"] === 0)) return "Unschedulable";
  const code = mostSevere(codes);
  if (stage.stage === "HandleSchedulingFailure" && !code) return HANDLED;
  return code === "Skip" ? "Success" : (code ?? "Success");
}

/** The Status that represents a stage of a binding cycle that has ended. */
export function codeOfBindingStage(view: StageView | undefined): string {
  return mostSevere((view?.statuses ?? []).map(({ code }) => code)) ?? (view?.facts?.["error"] ? "Error" : "Success");
}
