import { untrack } from "svelte";
import { SlowRequest } from "./slowRequest.svelte";
import type { SessionStore } from "./sessionStore.svelte";

/** While the shown moment moves, requests wait until it has stopped for this long. */
const STILL_MILLIS = 400;

/** A request about the shown moment, repeated when the moment changes. */
export class MomentRequest<Answer> extends SlowRequest<Answer> {
  /** The event of the answer's moment; -1: no answer yet. */
  of = $state(-1);

  constructor(
    private readonly store: SessionStore,
    private readonly make: (event: number, signal: AbortSignal) => Promise<Answer>,
  ) {
    super();
    $effect(() => {
      const { event, playing } = store;
      return untrack(() => {
        if (this.of === event || (playing && this.answer !== null)) return;
        const timer = setTimeout(() => void this.askOf(event), this.answer === null ? 0 : STILL_MILLIS);
        return () => {
          clearTimeout(timer);
        };
      });
    });
  }

  /** Repeat the request for the shown moment. */
  again(): void {
    void this.askOf(this.store.event);
  }

  private async askOf(event: number): Promise<void> {
    if ((await this.ask((signal) => this.make(event, signal))) !== null) this.of = event;
  }
}
