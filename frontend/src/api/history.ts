import type { Phrase } from "../model/text/phrase";
import type { Selection } from "../model/permalink";
import { call, pathOf } from "./call";

/** One entry of a history, in English and as a phrase. `uid` distinguishes pods that had the same name. */
export interface HistoryEntry {
  event: number;
  clockSeconds: number;
  cycle: number;
  t: string;
  text: string;
  phrase: Phrase;
  uid?: string;
}

/** A page of the history of one pod or node, in order. `previous` is the `before` of the previous page, `next` the `after` of the next one. */
export interface HistoryPage {
  at: number;
  lives: { uid: string; born: number; died: number | null }[];
  results: HistoryEntry[];
  next: number | null;
  previous: number | null;
}

/** The last entries of a history, or those after or before an event, up to the moment `at`. */
export function getHistory(
  id: string,
  { kind, name }: Selection,
  page: { tail?: number; after?: number; before?: number; limit?: number; at?: number },
  signal?: AbortSignal,
): Promise<HistoryPage> {
  const query = new URLSearchParams(Object.entries(page).map(([key, value]) => [key, String(value)]));
  return call("GET", `sessions/${id}/stories/${kind}s/${pathOf(name)}/?${query}`, { signal });
}
