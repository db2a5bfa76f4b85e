import { ApiError } from "../../api/call";
import { failureOf } from "../../i18n/failure";

/** The pause before a request is repeated whose result the server is still computing; it doubles up to the maximum. */
const RETRY_MILLIS = 500;
const MAX_RETRY_MILLIS = 2000;
const TICK_MILLIS = 250;

/**
 * The latest of a series of slow requests: its result, its error and the time waited. A new request cancels the former one. Create it while
 * a component is created: it is cancelled with the component.
 */
export class SlowRequest<Result> {
  result = $state.raw<Result | null>(null);
  /** Why there is no result, for the user. */
  error = $state("");
  pending = $state(false);
  seconds = $state(0);
  private controller: AbortController | null = null;

  constructor() {
    $effect(() => () => {
      this.cancel();
    });
  }

  /** The result; null: the request failed (see `error`) or was cancelled. The former result stays until then. */
  async send(make: (signal: AbortSignal) => Promise<Result>): Promise<Result | null> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.pending = true;
    this.error = "";
    const began = performance.now();
    this.seconds = 0;
    const clock = setInterval(() => {
      if (this.controller === controller) this.seconds = (performance.now() - began) / 1_000;
    }, TICK_MILLIS);
    try {
      const result = await retryWhileComputing(make, controller.signal);
      if (this.controller === controller) this.result = result;
      return result;
    } catch (error) {
      if (this.controller === controller && !controller.signal.aborted) {
        this.result = null;
        this.error = failureOf(error);
      }
      return null;
    } finally {
      clearInterval(clock);
      if (this.controller === controller) this.pending = false;
    }
  }

  /** Cancel the request. */
  cancel(): void {
    this.controller?.abort();
    this.controller = null;
    this.pending = false;
  }
}

/** Repeat a request whose result takes longer than the server's time limit for one response: the server continues to compute it. */
async function retryWhileComputing<Result>(make: (signal: AbortSignal) => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (let pause = RETRY_MILLIS; ; pause = Math.min(2 * pause, MAX_RETRY_MILLIS)) {
    try {
      return await make(signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "answer_late" || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause * (0.75 + Math.random() / 2)));
    }
  }
}
