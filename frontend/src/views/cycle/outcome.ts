/** A cycle's outcome is drawn with the Status that it comes from. */
const CODES: Record<string, string> = { scheduled: "Success", unschedulable: "Unschedulable", error: "Error", skipped: "Skip" };

export function codeOfOutcome(outcome: string): string {
  return CODES[outcome] ?? "Skip";
}
