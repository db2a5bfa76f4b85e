import { plural, t } from "../../i18n/translate";
import { isFailure } from "../../model/timeline/failures";
import type { Mark } from "../../model/timeline/marks";
import { printCount, printSeconds } from "../../model/text/quantity";
import type { Tally } from "../../model/timeline/tallies";
import { markInWords } from "./sentences";

/** The tooltip of the timeline: where the pointer is, and what happened there. */
export interface HoverText {
  head: string;
  lines: readonly { text: string; failed: boolean }[];
}

const MAX_LINES = 6;

/** Of marks that are drawn at one place, the pointed one first. */
export function textOfMarks(marks: readonly Mark[]): HoverText {
  const first = marks[0]!;
  return { head: t("timeline.hover.at", { event: printCount(first.event), clock: printSeconds(first.at) }), lines: linesOf(marks) };
}

/** Of a range of events: its counts, and the pods of its cycles, failed ones first. `marks`: those of the range; null: not loaded. */
export function textOfTally(tally: Tally, marks: readonly Mark[] | null): HoverText {
  const head = t("timeline.hover.range", { first: printCount(tally.firstEvent), last: printCount(tally.event), clock: printSeconds(tally.clockSeconds) });
  const { scheduled, unschedulable, errors, preempted, bound, podMoves, nodeChanges } = tally;
  const counts = Object.entries({ scheduled, unschedulable, errors, preempted, bound, podMoves, nodeChanges })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => plural(`timeline.count.${name}`, count))
    .join(" · ");
  const cycles = (marks ?? []).filter(({ lane }) => lane === "cycles");
  return { head, lines: [{ text: counts || t("timeline.count.none"), failed: false }, ...linesOf([...cycles.filter(isFailure), ...cycles.filter((mark) => !isFailure(mark))])] };
}

function linesOf(marks: readonly Mark[]): HoverText["lines"] {
  const lines = marks.slice(0, MAX_LINES).map((mark) => ({ text: markInWords(mark), failed: isFailure(mark) }));
  return marks.length > MAX_LINES ? [...lines, { text: t("timeline.hover.more", { count: printCount(marks.length - MAX_LINES) }), failed: false }] : lines;
}
