import { getEventsAfter } from "../api/moments";
import type { AnyEvent } from "../model/generated";
import { moveLinesOf, type MoveLine } from "../model/queueMoves";
import type { Change } from "./picture.svelte";

const KEPT = 200;
/** How many past events are read after the moment has jumped: most events move no pod between queues. */
const RECALLED = 400;
const SETTLED_MILLIS = 200;

/** The last moves between the queues before the shown moment, newest first. */
export class RecentMoves {
  lines = $state.raw<readonly MoveLine[]>([]);

  private known: readonly MoveLine[] = [];
  private at = -1;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private gone: AbortController | null = null;

  constructor(private readonly session: string) {}

  /** Update to the moment after `event`. */
  follow(change: Change, event: number): void {
    if (event === this.at) return;
    const forward = !change.whole && !change.back && this.at >= 0 && change.events[change.events.length - 1]?.event === event;
    this.at = event;
    if (forward) this.take(change.events);
    else if (!change.whole && change.back) this.known = this.known.filter((line) => line.event <= event);
    else this.recall(event);
  }

  /** Publish the moves that are known. */
  show(): void {
    this.lines = this.known;
  }

  close(): void {
    clearTimeout(this.timer);
    this.gone?.abort();
  }

  private take(events: readonly AnyEvent[]): void {
    const fresh = events.flatMap((event) => moveLinesOf(event));
    if (fresh.length) this.known = [...fresh.reverse(), ...this.known].slice(0, KEPT);
  }

  private recall(event: number): void {
    clearTimeout(this.timer);
    this.gone?.abort();
    const gone = new AbortController();
    this.gone = gone;
    this.known = [];
    if (event < 1) return;
    this.timer = setTimeout(() => {
      getEventsAfter(this.session, Math.max(0, event - RECALLED), RECALLED, gone.signal).then(
        (events) => {
          if (gone.signal.aborted) return;
          const earlier = events.filter((one) => one.event <= event).flatMap((one) => moveLinesOf(one));
          const oldest = this.known[this.known.length - 1]?.event ?? Infinity;
          this.known = [...this.known, ...earlier.reverse().filter((line) => line.event < oldest)].slice(0, KEPT);
          this.show();
        },
        () => undefined, // New moves are shown in any case.
      );
    }, SETTLED_MILLIS);
  }
}
