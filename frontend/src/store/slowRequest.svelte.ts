import { ApiError } from "../api/call";
import { failureOf } from "../i18n/failure";

/** The pause before a request is repeated whose result the server is still computing. */
const RETRY_MILLIS = 500;
const TICK_MILLIS = 250;

/**
 * The latest of a series of slow requests: its answer, its error and the time waited. A new request cancels the former one. Create it while
 * a component is created: it is cancelled with the component.
 */
export class SlowRequest<Answer> {
  answer = $state.raw<Answer | null>(null);
  /** Why there is no answer, for the user. */
  error = $state("");
  pending = $state(false);
  seconds = $state(0);
  private controller: AbortController | null = null;

  constructor() {
    $effect(() => () => {
      this.cancel();
    });
  }

  /** The answer; null: the request failed (see `error`) or was cancelled. The former answer stays until then. */
  async ask(make: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | null> {
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
      const answer = await retryWhileComputing(make, controller.signal);
      if (this.controller === controller) this.answer = answer;
      return answer;
    } catch (error) {
      if (this.controller === controller && !controller.signal.aborted) {
        this.answer = null;
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
async function retryWhileComputing<Answer>(make: (signal: AbortSignal) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await make(signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "answer_late" || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
    }
  }
}
