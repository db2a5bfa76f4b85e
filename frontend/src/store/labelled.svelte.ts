import { selectNodes } from "../api/objects";
import { failureOf } from "../i18n/failure";
import type { Scope } from "./scope.svelte";

/** Before a selector that is still being typed is asked about, or the next moment of one that plays. */
const SETTLED_MILLIS = 300;

/** Which nodes have which labels: the view has none of them, so the server is asked, at the moment that is shown. */
export class Labelled {
  /** Why a selector could not be asked about: it may be none yet. */
  problem = $state("");
  asking = $state(false);

  private known = $state.raw<Readonly<Record<string, ReadonlySet<string>>>>({});
  private asked = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private gone: AbortController | null = null;

  constructor(private readonly scope: Scope) {}

  /** What a selector selects; undefined: not known yet. */
  of(selector: string): ReadonlySet<string> | undefined {
    return this.known[selector];
  }

  /** Say what is looked for. Labels change with nodes alone, and these last at the event `since`. */
  want(selectors: readonly string[], since: number): void {
    const wanted = JSON.stringify([selectors, since]);
    if (wanted === this.asked) return;
    this.asked = wanted;
    this.close();
    this.problem = "";
    this.asking = selectors.length > 0;
    if (!selectors.length) return;
    this.timer = setTimeout(() => void this.ask(selectors), SETTLED_MILLIS);
  }

  close(): void {
    clearTimeout(this.timer);
    this.gone?.abort();
  }

  private async ask(selectors: readonly string[]): Promise<void> {
    const { signal } = (this.gone = new AbortController());
    const { event, id } = this.scope;
    try {
      const answers = await Promise.all(selectors.map((selector) => selectNodes(id, selector, event, signal)));
      this.known = Object.fromEntries(selectors.map((selector, i) => [selector, answers[i]!]));
    } catch (error) {
      if (signal.aborted) return;
      this.known = {};
      this.problem = failureOf(error);
    }
    this.asking = false;
  }
}
