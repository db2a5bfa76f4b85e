import type { CycleRecord } from "../model/cycle/cycleRecord";
import type { AnyEvent, CycleView, View } from "../model/generated";
import type { Tally } from "../model/timeline/tallies";
import { call } from "./call";

/** The state at a moment. `event` is at most the requested one; nothing is stored before `firstEvent`. */
export interface ViewResponse {
  event: number;
  chunk: number;
  firstEvent?: number;
  view: View;
}

export function getView(id: string, at: number, signal?: AbortSignal): Promise<ViewResponse> {
  return call("GET", `sessions/${id}/view/?at=${at}`, { signal });
}

/** The range of events or cycles of a page. */
export interface PageQuery {
  after?: number;
  before?: number;
  limit?: number;
  /** Return the last events of the range. */
  tail?: boolean;
}

/** A page of events. `next`: the `after` of the next page; null: these are the newest. */
export interface EventPage {
  events: AnyEvent[];
  next: number | null;
}

/** Stored events in a range, oldest first. A page also ends after some megabytes, so there may be fewer than `limit`. */
export async function getEvents(id: string, page: PageQuery, signal?: AbortSignal): Promise<EventPage> {
  const { results, next } = await call<{ results: AnyEvent[]; next: number | null }>("GET", `sessions/${id}/events/?${queryOf(page)}`, { signal });
  return { events: results, next };
}

/** The `count` stored events after one, in as many pages as they take; fewer if the session has fewer. */
export async function getEventsAfter(id: string, after: number, count: number, signal?: AbortSignal): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  let next: number | null = after;
  while (next !== null && events.length < count) {
    const page: EventPage = await getEvents(id, { after: next, limit: count - events.length }, signal);
    events.push(...page.events);
    next = page.events.length ? page.next : null;
  }
  return events;
}

/** A cycle's stored summary. */
export interface CycleSummary {
  cycle: number;
  pod: string;
  outcome?: string;
  node?: string;
  message?: string;
  firstEvent?: number;
  lastEvent?: number;
}

export function getCycles(id: string, page: PageQuery, signal?: AbortSignal): Promise<{ results: CycleSummary[] }> {
  return call("GET", `sessions/${id}/cycles/?${queryOf(page)}`, { signal });
}

/** The full record of a cycle. The server computes it by replay, so it may take a moment. */
export function getCycle(id: string, cycle: number): Promise<CycleRecord> {
  return call("GET", `sessions/${id}/cycles/${cycle}/`);
}

/** The stored summary of one cycle; it has the scores of the winner and the runner-up, and needs no replay. */
export function getCycleSummary(id: string, cycle: number, signal?: AbortSignal): Promise<CycleView> {
  return call("GET", `sessions/${id}/cycles/${cycle}/?detail=0`, { signal });
}

function queryOf(page: PageQuery): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(page) as [string, number | boolean | undefined][])
    if (value !== undefined && value !== false) query.set(name, value === true ? "1" : String(value));
  return query.toString();
}

export interface TimelineResponse {
  from: number;
  to: number;
  /** The first moment that can be shown. */
  firstEvent?: number;
  buckets: Tally[];
}

/** The history in ranges of about as many events each. */
export async function getTimeline(id: string, range: { from?: number; to?: number; buckets: number }, signal?: AbortSignal): Promise<TimelineResponse> {
  const query = new URLSearchParams(Object.entries(range).map(([name, value]) => [name, String(value)]));
  const response = await call<TimelineResponse>("GET", `sessions/${id}/timeline/?${query}`, { signal });
  let before = response.from;
  for (const bucket of response.buckets) {
    bucket.firstEvent ??= before + 1;
    before = bucket.event;
  }
  return response;
}
