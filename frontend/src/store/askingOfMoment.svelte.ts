import { untrack } from "svelte";
import { Asking } from "./asking.svelte";
import type { Scope } from "./scope.svelte";

/** A picture that moves is asked about once it stands still. */
const STILL_MILLIS = 400;

/** What is asked of the moment that is shown, and again when another one is. */
export class AskingOfMoment<Answer> extends Asking<Answer> {
  /** The event of the moment that the answer is of; -1: there was none yet. */
  of = $state(-1);

  constructor(
    private readonly scope: Scope,
    private readonly make: (event: number, signal: AbortSignal) => Promise<Answer>,
  ) {
    super();
    $effect(() => {
      const { event, playing } = scope;
      return untrack(() => {
        if (this.of === event || (playing && this.answer !== null)) return;
        const timer = setTimeout(() => void this.askOf(event), this.answer === null ? 0 : STILL_MILLIS);
        return () => {
          clearTimeout(timer);
        };
      });
    });
  }

  /** Ask of the moment that is shown now. */
  again(): void {
    void this.askOf(this.scope.event);
  }

  private async askOf(event: number): Promise<void> {
    if ((await this.ask((signal) => this.make(event, signal))) !== null) this.of = event;
  }
}
