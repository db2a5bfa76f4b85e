import { ApiError } from "../api/call";
import { failureOf } from "../i18n/failure";

/** Before a question is asked again whose answer is still being made. */
const AGAIN_MILLIS = 500;
const TICK_MILLIS = 250;

/**
 * One thing that is asked of the server and may take a while: its answer, its error, how long it has been waited for. The newest question counts.
 * Made while its component is made, with which it ends.
 */
export class Asking<Answer> {
  answer = $state.raw<Answer | null>(null);
  /** Why there is no answer, in words. */
  error = $state("");
  asking = $state(false);
  seconds = $state(0);
  private controller: AbortController | null = null;

  constructor() {
    $effect(() => () => {
      this.cancel();
    });
  }

  /** The answer; null: it was refused, which is told, or nobody waits for it any more. The old answer stays until then. */
  async ask(make: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | null> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.asking = true;
    this.error = "";
    const began = performance.now();
    this.seconds = 0;
    const clock = setInterval(() => {
      if (this.controller === controller) this.seconds = (performance.now() - began) / 1_000;
    }, TICK_MILLIS);
    try {
      const answer = await patiently(make, controller.signal);
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
      if (this.controller === controller) this.asking = false;
    }
  }

  /** Wait no longer. */
  cancel(): void {
    this.controller?.abort();
    this.controller = null;
    this.asking = false;
  }
}

/** An answer that takes longer than the server lets anybody wait is being made all the same: ask again. */
async function patiently<Answer>(make: (signal: AbortSignal) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await make(signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "answer_late" || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MILLIS));
    }
  }
}
