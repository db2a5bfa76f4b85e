import type { AnyEvent } from "../../model/generated";
import type { State } from "../../model/state/state";
import type { EventBuffer } from "../../model/timeline/eventBuffer";
import { Picture, type Change } from "./picture.svelte";

/**
 * The moment that the page draws. The model is plain data outside of Svelte: `version` increases, at most once per microtask, when the
 * model has changed, and every component that draws the model reads it first.
 */
export class ShownMoment {
  /** The event that led to the moment. */
  event = $state(0);
  /** The events around the moment; null until the first view has arrived. Not reactive. */
  buffer: EventBuffer | null = null;

  private readonly picture = new Picture(() => {
    this.event = this.buffer?.event ?? 0;
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
    return this.buffer?.state ?? null;
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
    return this.buffer?.shown ?? null;
  }

  /** Move within the buffer. */
  move(buffer: EventBuffer, event: number): void {
    const back = event < buffer.event;
    this.picture.moved(buffer.go(event), back);
  }

  /** Show other events: nothing of the former picture has moved. */
  replace(buffer: EventBuffer): void {
    this.buffer = buffer;
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
