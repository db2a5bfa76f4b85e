import { getEventsAfter, getTimeline } from "../../api/moments";
import { failureOf } from "../../i18n/failure";
import type { AnyEvent } from "../../model/generated";
import { LEAD, MarkPages, PAGE } from "../../model/timeline/markPages";
import type { Mark } from "../../model/timeline/marks";
import { Tallies, talliesBetween, type Tally } from "../../model/timeline/tallies";
import type { EventRange } from "../../model/timeline/eventRange";
import type { SessionStore } from "../session/sessionStore.svelte";

/** In a longer window, single marks would overlap. */
export const MAX_EVENTS_WITH_MARKS = 4_000;
const BUCKETS = 400;
/** Fetching waits until the window has not moved for this long. */
const SETTLED_MILLIS = 120;
/** The pods of a longer range are not named when the pointer is on it. */
const MAX_EVENTS_WITH_NAMES = 2_000;
const NAMING_LIMIT_MILLIS = 10_000;

/** The timeline's data: tallies of the whole session, and marks of the ranges that were viewed. Its size is bounded. */
export class TimelineData {
  /** Read it before anything else: the data are not reactive. */
  version = $state(0);
  /** Why the window's data could not be loaded. */
  problem = $state("");

  private readonly whole = new Tallies();
  private readonly pages = new MarkPages();
  private near: { window: EventRange; tallies: readonly Tally[] } | null = null;
  private lastLive = 0;
  /** Events that arrived while the tallies were loading. */
  private early: AnyEvent[] | null = null;
  private loads = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private naming: ReturnType<typeof setTimeout> | undefined;
  private fetching: AbortController | null = null;
  private readonly unlisten: () => void;

  constructor(private readonly store: SessionStore) {
    this.unlisten = store.listen((events) => {
      this.take(events);
    });
  }

  close(): void {
    this.unlisten();
    clearTimeout(this.timer);
    clearTimeout(this.naming);
    this.fetching?.abort();
  }

  get all(): readonly Tally[] {
    return this.whole.list;
  }

  /** The marks of a window; null: it is too long for marks. */
  marksOf(window: EventRange): Mark[] | null {
    return window.last - window.first > MAX_EVENTS_WITH_MARKS ? null : this.pages.between(window.first + 1, window.last);
  }

  /** The marks of the whole session; null: it is too long, or not all are loaded. */
  wholeMarks(range: EventRange): Mark[] | null {
    const { headEvent } = this.store;
    return range.last - range.first <= MAX_EVENTS_WITH_MARKS && !this.pages.missing(range.first + 1, headEvent, headEvent).length ? this.marksOf(range) : null;
  }

  /** Whether some of a window is not loaded yet. */
  lacks(window: EventRange): boolean {
    if (window.last - window.first > MAX_EVENTS_WITH_MARKS) return this.loads > 0 && this.early !== null;
    return this.pages.missing(window.first + 1, Math.min(window.last, this.store.headEvent), this.store.headEvent).length > 0;
  }

  talliesOf(window: EventRange): readonly Tally[] {
    const { near } = this;
    const isNear = near && near.window.first <= window.first && near.window.last >= window.last;
    return talliesBetween(isNear ? near.tallies : this.whole.list, window.first + 1, window.last);
  }

  /** The marks of a range that is short enough to be named; null: it is too long, or not loaded. */
  marksIn(first: number, last: number): Mark[] | null {
    if (last - first > MAX_EVENTS_WITH_NAMES || this.pages.missing(first, last, this.store.headEvent).length > 0) return null;
    return this.pages.between(first, last);
  }

  /** Load the marks of a range under the pointer, which name its pods, once the pointer rests. */
  loadNames(first: number, last: number): void {
    clearTimeout(this.naming);
    if (last - first > MAX_EVENTS_WITH_NAMES || this.marksIn(first, last)) return;
    this.naming = setTimeout(() => {
      // Without names, the tooltip has the counts.
      this.fetchPages(first, last, AbortSignal.timeout(NAMING_LIMIT_MILLIS)).catch(() => undefined);
    }, SETTLED_MILLIS);
  }

  /** Load the tallies of the whole session: at first, and after events were missed. */
  async load(): Promise<void> {
    const request = ++this.loads;
    const early: AnyEvent[] = (this.early = []);
    const head = this.store.headEvent;
    try {
      const { buckets, firstEvent } = await getTimeline(this.store.id, { buckets: BUCKETS });
      if (request !== this.loads) return; // A later response is newer.
      this.store.playback.firstEvent = Math.max(this.store.playback.firstEvent, firstEvent ?? 0);
      this.whole.load(buckets);
    } catch {
      // The timeline starts at the head instead.
      if (!this.whole.list.length && head > 0) this.whole.load([]);
    }
    if (request !== this.loads) return;
    this.whole.add(early);
    this.early = null;
    this.touch();
  }

  /** Set the visible window: its missing data is loaded once it stops moving. */
  look(window: EventRange, range: EventRange): void {
    clearTimeout(this.timer);
    if (range.last - range.first <= MAX_EVENTS_WITH_MARKS) window = range;
    this.timer = setTimeout(() => {
      this.fetching?.abort();
      this.fetching = new AbortController();
      const { signal } = this.fetching;
      this.fetch(window, signal).then(
        () => { this.problem = ""; },
        (error: unknown) => {
          // The next change of the window retries.
          if (!signal.aborted) this.problem = failureOf(error);
        },
      );
    }, SETTLED_MILLIS);
  }

  private async fetch(window: EventRange, signal: AbortSignal): Promise<void> {
    const { id } = this.store;
    if (window.last - window.first <= MAX_EVENTS_WITH_MARKS) {
      await this.fetchPages(window.first + 1, window.last, signal);
      return;
    }
    const margin = (window.last - window.first) / 2;
    const wider = { first: Math.max(0, Math.floor(window.first - margin)), last: Math.ceil(window.last + margin) };
    if (wider.last - wider.first > (this.store.headEvent - this.store.playback.firstEvent) * 0.8) return;
    const { buckets } = await getTimeline(id, { from: wider.first, to: wider.last, buckets: 2 * BUCKETS }, signal);
    this.near = { window: wider, tallies: buckets };
    this.touch();
  }

  private async fetchPages(first: number, last: number, signal: AbortSignal): Promise<void> {
    for (const page of this.pages.missing(first, last, this.store.headEvent)) {
      const events = await getEventsAfter(this.store.id, Math.max(0, page * PAGE - LEAD), PAGE + LEAD, signal);
      this.pages.load(page, events);
      this.touch();
    }
  }

  private take(events: readonly AnyEvent[]): void {
    const first = events[0]!.event;
    if (this.lastLive && first !== this.lastLive + 1) {
      this.pages.interrupt();
      void this.load();
    }
    this.lastLive = events[events.length - 1]!.event;
    this.pages.add(events);
    if (this.early) this.early.push(...events);
    else this.whole.add(events);
    this.touch();
  }

  /** Svelte flushes at the end of the task: what one message changes here and in the store is drawn once. */
  private touch(): void {
    this.version += 1;
  }
}
