import type { RoomMoment } from "./room";
import { parsePermalink, printPermalink, type Selection } from "../permalink";

/** A page's moment and view in its session, as far as others can follow them. */
export interface SharedPosition {
  /** The shown moment; null: live. */
  at: number | null;
  select: Selection | null;
  tab: string;
}

/** A selection in the form of permalinks. */
export function selectionText(select: Selection | null): string {
  return select ? (new URLSearchParams(printPermalink({ select })).get("select") ?? "") : "";
}

/** The place that a moment describes. */
export function positionOf(moment: RoomMoment): SharedPosition {
  const permalink = parsePermalink(`?select=${encodeURIComponent(moment.select)}`);
  return { at: moment.at, select: permalink.select ?? null, tab: moment.tab || "summary" };
}

/** Whether a page is at the place that a moment describes. The tab matters only with a selection. */
export function isAtMoment(own: SharedPosition, moment: RoomMoment): boolean {
  const target = positionOf(moment);
  return own.at === target.at && selectionText(own.select) === selectionText(target.select) && (!target.select || own.tab === target.tab);
}

/** Whether two moments are equal for followers. */
export function sameMoment(a: RoomMoment | null, b: RoomMoment | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
