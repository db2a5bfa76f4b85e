import { selectNodes } from "../../api/objects";
import { failureOf } from "../../i18n/failure";
import type { SessionStore } from "../session/sessionStore.svelte";

/** The delay before a request, for a selector that is being typed or a moment that changes. */
const SETTLED_MILLIS = 300;

/** Which nodes match label selectors at the shown moment. The view has no labels, so the server evaluates the selectors. */
export class LabelSelectors {
  /** Why the server rejected a selector: it may be incomplete. */
  problem = $state("");
  pending = $state(false);

  private known = $state.raw<Readonly<Record<string, ReadonlySet<string>>>>({});
  private asked = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | null = null;

  constructor(private readonly store: SessionStore) {}

  /** The nodes that match a selector; undefined: not loaded yet. */
  of(selector: string): ReadonlySet<string> | undefined {
    return this.known[selector];
  }

  /** Load the nodes that match these selectors. Labels change only with nodes, which last changed at the event `since`. */
  want(selectors: readonly string[], since: number): void {
    const key = JSON.stringify([selectors, since]);
    if (key === this.asked) return;
    this.asked = key;
    this.close();
    this.problem = "";
    this.pending = selectors.length > 0;
    if (!selectors.length) return;
    this.timer = setTimeout(() => void this.ask(selectors), SETTLED_MILLIS);
  }

  close(): void {
    clearTimeout(this.timer);
    this.request?.abort();
  }

  private async ask(selectors: readonly string[]): Promise<void> {
    const { signal } = (this.request = new AbortController());
    const { event, id } = this.store;
    try {
      const matches = await Promise.all(selectors.map((selector) => selectNodes(id, selector, event, signal)));
      this.known = Object.fromEntries(selectors.map((selector, i) => [selector, matches[i]!]));
    } catch (error) {
      if (signal.aborted) return;
      this.known = {};
      this.problem = failureOf(error);
    }
    this.pending = false;
  }
}
