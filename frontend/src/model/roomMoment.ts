import type { Moment } from "./room";
import { placeOf, searchOf, type Selection } from "./permalink";

/** Where a page is in its session, as far as others can follow it there. */
export interface Whereabouts {
  /** The moment that is shown; null: the newest, as it comes. */
  at: number | null;
  select: Selection | null;
  tab: string;
}

/** A selection as addresses write it. */
export function selectionText(select: Selection | null): string {
  return select ? (new URLSearchParams(searchOf({ select })).get("select") ?? "") : "";
}

/** Where a moment says that one is. */
export function whereaboutsOf(moment: Moment): Whereabouts {
  const place = placeOf(`?select=${encodeURIComponent(moment.select)}`);
  return { at: moment.at, select: place.select ?? null, tab: moment.tab || "summary" };
}

/** Whether a page is where a moment says. A tab counts only where something is chosen. */
export function isThere(here: Whereabouts, moment: Moment): boolean {
  const there = whereaboutsOf(moment);
  return here.at === there.at && selectionText(here.select) === selectionText(there.select) && (!there.select || here.tab === there.tab);
}

/** Whether two moments are the same to whoever follows. */
export function sameMoment(a: Moment | null, b: Moment | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
