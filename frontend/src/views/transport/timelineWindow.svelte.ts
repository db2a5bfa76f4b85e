import { untrack } from "svelte";
import { brushed, clamped, panned, zoomed } from "../../layout/timeline";
import type { EventRange } from "../../model/timeline/eventRange";
import type { SessionStore } from "../../store/session/sessionStore.svelte";

/** Fewer events are never shown, unless the user zooms in. */
const MIN_EVENTS = 60;

/** The range of events that the timeline shows: around the shown moment, or as the user chose. Create it while a component is created. */
export class TimelineWindow {
  /** Pixels that the events have. */
  width = $state(0);

  /** The user's choice; null: around the shown moment, at two pixels per event. */
  private chosen = $state.raw<EventRange | null>(null);
  private before = { event: 0, headEvent: 0 };

  /** The range of the whole session. */
  readonly whole = $derived.by((): EventRange => {
    const { firstEvent } = this.store.playback;
    return { first: firstEvent, last: Math.max(this.store.headEvent, firstEvent + MIN_EVENTS) };
  });

  readonly current = $derived.by((): EventRange => {
    if (this.chosen) return clamped(this.chosen, this.whole);
    const { event, playback } = this.store;
    const most = Math.max(MIN_EVENTS, Math.round(this.width / 2));
    const last = playback.inThePast && event < this.whole.last - most * 0.9 ? event + Math.round(most / 2) : this.whole.last;
    return clamped({ first: last - most, last }, this.whole);
  });

  constructor(private readonly store: SessionStore) {
    $effect(() => {
      this.followMoment();
    });
  }

  get length(): number {
    return this.current.last - this.current.first;
  }

  /** Show the range between two events of a brush. */
  brush(from: number, to: number): void {
    this.chosen = brushed(from, to, this.whole);
  }

  pan(events: number): void {
    this.chosen = panned(this.current, this.whole, events);
  }

  /** Zoom in (`factor` < 1) or out; the event at `around` keeps its place. */
  zoom(factor: number, around = this.store.event): void {
    this.chosen = zoomed(this.current, this.whole, factor, around);
  }

  center(event: number): void {
    const half = this.length / 2;
    this.chosen = clamped({ first: Math.round(event - half), last: Math.round(event + half) }, this.whole);
  }

  showWhole(): void {
    this.chosen = this.whole;
  }

  /** Keep the range that is shown, whatever the shown moment does. */
  hold(): void {
    this.chosen = this.current;
  }

  /** Show the range around the shown moment again. */
  reset(): void {
    this.chosen = null;
  }

  /** Move a chosen window along when the shown moment leaves it, or when the user seeks; otherwise it stays where the user put it. */
  private followMoment(): void {
    const { event, headEvent } = this.store;
    const { inThePast } = this.store.playback;
    const { event: eventBefore, headEvent: headBefore } = this.before;
    this.before = { event, headEvent };
    const shown = untrack(() => this.chosen);
    if (!shown || (event === eventBefore && headEvent === headBefore)) return;
    const isVisible = (event: number): boolean => event >= shown.first && event <= shown.last;
    if (isVisible(event) || !(inThePast || isVisible(eventBefore))) return;
    if (!inThePast && headEvent > headBefore) this.chosen = panned(shown, this.whole, event - shown.last);
    else this.chosen = panned(shown, this.whole, event - Math.round((shown.first + shown.last) / 2));
  }
}
