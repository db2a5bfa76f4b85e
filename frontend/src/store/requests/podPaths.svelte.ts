import { getEvents } from "../../api/moments";
import { getHistory } from "../../api/history";
import type { CachePod } from "../../model/generated";

/** The delay before a path is loaded: not while the shown moment moves. */
const SETTLED_MILLIS = 150;
/** The last entries of the pod's history up to the moment, among which its operations are searched. */
const MAX_ENTRIES = 200;
/** The newest operations of a pod with more of them. */
const MAX_OPERATIONS = 24;

/** What the cache did with a pod, in order, from its history: the page does not store past events. */
export class PodPath {
  /** Operations up to the requested moment. */
  operations = $state.raw<readonly CachePod[]>([]);
  /** The pod whose operations these are; "" while they load. */
  pod = $state("");

  private requested = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | null = null;
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- nothing is drawn from it
  private readonly known = new Map<number, CachePod>();

  constructor(private readonly session: string) {}

  want(pod: string, at: number): void {
    const key = `${pod}@${at}`;
    if (key === this.requested) return;
    this.requested = key;
    if (this.pod !== pod) this.pod = "";
    clearTimeout(this.timer);
    this.request?.abort();
    this.timer = setTimeout(() => {
      void this.load(pod, at);
    }, SETTLED_MILLIS);
  }

  close(): void {
    clearTimeout(this.timer);
    this.request?.abort();
  }

  private async load(pod: string, at: number): Promise<void> {
    const abort = new AbortController();
    this.request = abort;
    try {
      const { results } = await getHistory(this.session, { kind: "pod", name: pod }, { at, tail: MAX_ENTRIES }, abort.signal);
      const entries = results.filter((entry) => entry.t === "cachePod" && entry.event <= at).slice(-MAX_OPERATIONS);
      const operations = await Promise.all(entries.map((entry) => this.operation(entry.event, abort.signal)));
      if (abort.signal.aborted) return;
      this.operations = operations.filter((operation) => operation !== null);
      this.pod = pod;
    } catch (error) {
      // If the history cannot be loaded, the panel shows only the current state.
      if (!abort.signal.aborted) {
        this.operations = [];
        this.pod = pod;
      }
      if (!(error instanceof Error)) throw error;
    }
  }

  private async operation(event: number, signal: AbortSignal): Promise<CachePod | null> {
    const cached = this.known.get(event);
    if (cached) return cached;
    const { events } = await getEvents(this.session, { after: event - 1, limit: 1 }, signal);
    const found = events[0];
    if (found?.t !== "cachePod") return null;
    this.known.set(event, found);
    return found;
  }
}
