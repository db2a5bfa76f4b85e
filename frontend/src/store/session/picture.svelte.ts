import type { AnyEvent } from "../../model/generated";

/** What has changed since the picture was last drawn. */
export interface Change {
  /** The events that were applied or reverted, in that order. */
  events: readonly AnyEvent[];
  back: boolean;
  /** The whole picture was replaced: nothing is animated. */
  whole: boolean;
}

const NO_CHANGE: Change = { events: [], back: false, whole: false };
/** More events than this are not animated: the picture is replaced. */
const MAX_EVENTS_IN_CHANGE = 2_000;
const NEXT_FRAME_MILLIS = 20;
/** The shortest interval between updates of text panels. */
const MIN_READ_INTERVAL_MILLIS = 250;

/** Publishes changes of a plain model to Svelte, at most once per microtask. */
export class Picture {
  /** For animated views. */
  version = $state(0);
  /**
   * For panels of text: it increases one frame after `version`, and four times a second while the picture changes continuously. Updating
   * these panels took 10 of the 30 ms that the page spent on a cycle.
   */
  readVersion = $state(0);
  /** Not reactive: read `version` before it. */
  change: Change = NO_CHANGE;

  private pending: Change = NO_CHANGE;
  private publishing = false;
  private reader: ReturnType<typeof setTimeout> | undefined;
  private readAt = 0;

  /** `before`: called just before `version` increases, to set state that is drawn in the same flush. */
  constructor(private readonly before: () => void) {}

  /** The model applied or reverted these events. */
  moved(events: readonly AnyEvent[], back: boolean): void {
    const { pending } = this;
    if (pending.whole || (pending.events.length && pending.back !== back) || pending.events.length + events.length > MAX_EVENTS_IN_CHANGE) this.replaced();
    else {
      this.pending = { events: [...pending.events, ...events], back, whole: false };
      this.publishSoon();
    }
  }

  /** The model was replaced. */
  replaced(): void {
    this.pending = { events: [], back: false, whole: true };
    this.publishSoon();
  }

  /**
   * Publish changes, if any, in a microtask. Called before other reactive state is set, it runs before Svelte's own flush, so that there is
   * only one. Animation frames would not do: a hidden tab has none.
   */
  publishSoon(): void {
    if (this.publishing) return;
    this.publishing = true;
    queueMicrotask(() => {
      this.publishing = false;
      if (this.pending !== NO_CHANGE) this.publish();
    });
  }

  close(): void {
    clearTimeout(this.reader);
  }

  private publish(): void {
    this.before();
    this.change = this.pending;
    this.pending = NO_CHANGE;
    this.version += 1;
    if (this.change.whole) this.read();
    else
      this.reader ??= setTimeout(
        () => {
          this.read();
        },
        Math.max(NEXT_FRAME_MILLIS, this.readAt + MIN_READ_INTERVAL_MILLIS - performance.now()),
      );
  }

  private read(): void {
    clearTimeout(this.reader);
    this.reader = undefined;
    this.readAt = performance.now();
    this.readVersion += 1;
  }
}
