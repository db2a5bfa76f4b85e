import type { RailStage } from "../../model/cycleStages";
import { worst, type StatusCode } from "../../model/statuses";

/** A cycle's outcome has the colour of the corresponding Status. */
const CODES: Record<string, string> = { scheduled: "Success", unschedulable: "Unschedulable", error: "Error", skipped: "Skip" };

export function codeOfOutcome(outcome: string): string {
  return CODES[outcome] ?? "Skip";
}

/** The Status that represents a stage; null before it has ended. */
export function codeOfStage(stage: RailStage): StatusCode | null {
  if (stage.reached !== "ended") return null;
  const codes = stage.views.flatMap((view) => [...(view.statuses ?? []).map((status) => status.code), ...(view.facts?.["error"] ? ["Error"] : [])]);
  // A rejected node is no problem; a filter that leaves none is.
  if (stage.stage === "Filter" && stage.views.some((view) => view.facts?.["feasible"] === 0)) return "Unschedulable";
  const found = worst(codes);
  return found === "Skip" ? "Success" : (found ?? "Success");
}
