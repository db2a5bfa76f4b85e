import type { AnyEvent } from "../model/generated";

/** What the picture went through since it was drawn last. */
export interface Change {
  /** The events that were applied, or taken back, in that order. */
  events: readonly AnyEvent[];
  back: boolean;
  /** It is another picture altogether: nothing in it has moved. */
  whole: boolean;
}

const NO_CHANGE: Change = { events: [], back: false, whole: false };
/** More than this has not moved, for the eye: it is another picture. */
const MOST_IN_CHANGE = 2_000;
const NEXT_FRAME_MILLIS = 20;
/** Nobody reads a figure that stands for less. */
const READ_MILLIS = 250;

/** Tells those who draw a plain model that it has changed, at most once in a microtask. */
export class Picture {
  /** For what is watched. */
  version = $state(0);
  /**
   * For what one stops to read: it goes up with the frame after the picture's, and four times a second while that moves all the time. Of the 30 ms
   * that a cycle takes the page, from the socket to the painted frame, such panels were 10.
   */
  readVersion = $state(0);
  /** Not reactive: read `version` before it. */
  change: Change = NO_CHANGE;

  private pending: Change = NO_CHANGE;
  private publishing = false;
  private reader: ReturnType<typeof setTimeout> | undefined;
  private readAt = 0;

  /** `before`: what else is set as the version goes up, so that all of it is drawn in one go. */
  constructor(private readonly before: () => void) {}

  /** It went through these events, or back through them. */
  moved(events: readonly AnyEvent[], back: boolean): void {
    const { pending } = this;
    if (pending.whole || (pending.events.length && pending.back !== back) || pending.events.length + events.length > MOST_IN_CHANGE) this.replaced();
    else {
      this.pending = { events: [...pending.events, ...events], back, whole: false };
      this.publishSoon();
    }
  }

  /** It is another one. */
  replaced(): void {
    this.pending = { events: [], back: false, whole: true };
    this.publishSoon();
  }

  /**
   * Publish what has changed by the end of this task; nothing, where nothing has. Called before anything else that Svelte reacts to is set, it comes
   * before Svelte's own work, which is then done once. In a hidden tab no animation frame comes: a microtask always does.
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
        Math.max(NEXT_FRAME_MILLIS, this.readAt + READ_MILLIS - performance.now()),
      );
  }

  private read(): void {
    clearTimeout(this.reader);
    this.reader = undefined;
    this.readAt = performance.now();
    this.readVersion += 1;
  }
}
