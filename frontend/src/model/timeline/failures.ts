import type { Mark } from "./marks";
import type { Tally } from "./tallies";

/** Something that went wrong, for the overview of the whole session. */
export interface Failure {
  event: number;
  isError: boolean;
}

const FAILED: Record<string, boolean> = { "cycles/unschedulable": false, "cycles/error": true, "binding/failed": true, "binding/lost": true };

/** Whether a mark is a failed cycle or binding. */
export function isFailure({ lane, kind }: Mark): boolean {
  return `${lane}/${kind}` in FAILED;
}

/** The failures among marks, or the ranges of events that have failed cycles, in order. */
export function failuresIn(marks: readonly Mark[] | null, tallies: readonly Tally[]): Failure[] {
  if (marks) return marks.filter(isFailure).map(({ event, lane, kind }) => ({ event, isError: FAILED[`${lane}/${kind}`]! }));
  return tallies
    .filter(({ unschedulable, errors }) => unschedulable + errors > 0)
    .map(({ firstEvent, event, errors }) => ({ event: Math.round((firstEvent + event) / 2), isError: errors > 0 }));
}
