import type { AnyEvent } from "../generated";
import { firstMark, Marker, type Mark } from "./marks";

/** Events in a page. */
export const PAGE = 1_000;
/** The number of earlier events that are read with a page: they name the pod whose cycle ends in it. */
export const LEAD = 100;
const MAX_PAGES = 24;
const MAX_LIVE_MARKS = 24_000;

/** Known marks: live ones, and pages of earlier ones, with an LRU limit. */
export class MarkPages {
  /** Marks of the events after `since`, in order. */
  private live: Mark[] = [];
  private since: number | null = null;
  private readonly marker = new Marker();
  /** Least recently used first. */
  private readonly pages = new Map<number, { marks: Mark[]; until: number }>();

  add(events: readonly AnyEvent[]): void {
    if (!events.length) return;
    this.since ??= events[0]!.event - 1;
    this.live.push(...this.marker.marksOf(events));
    if (this.live.length <= MAX_LIVE_MARKS) return;
    this.live = this.live.slice(MAX_LIVE_MARKS / 4);
    this.since = this.live[0]!.event - 1;
  }

  /** Live events were missed: later ones do not follow the known ones. */
  interrupt(): void {
    this.live = [];
    this.since = null;
  }

  /** The missing pages of a window; `head` is the last event so far. */
  missing(first: number, last: number, head: number): number[] {
    const until = Math.min(last, head, this.since ?? head);
    const missing: number[] = [];
    for (let page = pageOf(Math.max(1, first)); page <= pageOf(until) && first <= until; page++) {
      const cached = this.pages.get(page);
      if (!cached || cached.until < Math.min(until, (page + 1) * PAGE)) missing.push(page);
    }
    return missing;
  }

  /** Add a page: the events after `page * PAGE - LEAD`. */
  load(page: number, events: readonly AnyEvent[]): void {
    const marks = new Marker().marksOf(events);
    const from = page * PAGE + 1;
    const until = events[events.length - 1]?.event ?? 0;
    this.pages.set(page, { marks: marks.slice(firstMark(marks, from), firstMark(marks, from + PAGE)), until });
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= MAX_PAGES) break;
      this.pages.delete(oldest);
    }
  }

  /** The known marks of a window, in order. */
  between(first: number, last: number): Mark[] {
    const liveFrom = this.since ?? Infinity;
    const marks: Mark[] = [];
    for (let page = pageOf(Math.max(1, first)); page <= pageOf(last); page++) {
      const cached = this.pages.get(page);
      if (!cached) continue;
      this.pages.delete(page);
      this.pages.set(page, cached);
      for (const mark of cached.marks) if (mark.event >= first && mark.event <= Math.min(last, liveFrom)) marks.push(mark);
    }
    for (let i = firstMark(this.live, Math.max(first, 0)); i < this.live.length && this.live[i]!.event <= last; i++) marks.push(this.live[i]!);
    return marks;
  }
}

function pageOf(event: number): number {
  return Math.floor((event - 1) / PAGE);
}
