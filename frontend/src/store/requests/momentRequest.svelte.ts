import { untrack } from "svelte";
import { SlowRequest } from "./slowRequest.svelte";
import type { SessionStore } from "../session/sessionStore.svelte";

/** While the shown moment moves, requests wait until it has stopped for this long. */
const STILL_MILLIS = 400;

/** A request about the shown moment, repeated when the moment changes. */
export class MomentRequest<Result> extends SlowRequest<Result> {
  /** The event of the result's moment; -1: no result yet. */
  event = $state(-1);

  constructor(
    private readonly store: SessionStore,
    private readonly make: (event: number, signal: AbortSignal) => Promise<Result>,
    /** Whether the shown moment can be asked about. Reactive. */
    isReady: () => boolean = () => true,
  ) {
    super();
    $effect(() => {
      const { event, playing } = store;
      if (!isReady()) return;
      return untrack(() => {
        if (this.event === event || (playing && this.result !== null)) return;
        const timer = setTimeout(() => void this.sendFor(event), this.result === null ? 0 : STILL_MILLIS);
        return () => {
          clearTimeout(timer);
        };
      });
    });
  }

  /** Repeat the request for the shown moment. */
  repeat(): void {
    void this.sendFor(this.store.event);
  }

  private async sendFor(event: number): Promise<void> {
    if ((await this.send((signal) => this.make(event, signal))) !== null) this.event = event;
  }
}
