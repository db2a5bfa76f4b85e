import type { AnyEvent } from "../model/generated";
import type { State } from "../model/state";
import type { Tape } from "../model/tape";
import { Picture, type Change } from "./picture.svelte";

/**
 * The moment that the page draws. The model is plain data outside of Svelte: `version` increases, at most once per microtask, when the
 * model has changed, and every component that draws the model reads it first.
 */
export class ShownMoment {
  /** The event that led to the moment. */
  event = $state(0);
  /** The stretch of events around the moment; null until the first view has arrived. Not reactive. */
  tape: Tape | null = null;

  private readonly picture = new Picture(() => {
    this.event = this.tape?.event ?? 0;
  });

  get version(): number {
    return this.picture.version;
  }

  get readVersion(): number {
    return this.picture.readVersion;
  }

  /** The latest change of the picture. Not reactive: read `version` before it. */
  get change(): Change {
    return this.picture.change;
  }

  /** Not reactive: read `version` before it. */
  get state(): State | null {
    return this.tape?.state ?? null;
  }

  /** The state, reactive through `version`. It is the same object every time, so derive values from it at once. */
  get current(): State | null {
    void this.version;
    return this.state;
  }

  /** The state for panels of text, reactive through the slower `readVersion`. */
  get reading(): State | null {
    void this.readVersion;
    return this.state;
  }

  /** The TraceEvent that led to the moment. */
  get lastEvent(): AnyEvent | null {
    void this.version;
    return this.tape?.shown ?? null;
  }

  /** Move within the tape. */
  move(tape: Tape, event: number): void {
    const back = event < tape.event;
    this.picture.moved(tape.go(event), back);
  }

  /** Show another stretch: nothing of the former picture has moved. */
  replace(tape: Tape): void {
    this.tape = tape;
    this.picture.replaced();
  }

  /** Call before anything else that Svelte reacts to is set: the picture and the rest are then drawn in one flush. */
  publishSoon(): void {
    this.picture.publishSoon();
  }

  close(): void {
    this.picture.close();
  }
}
