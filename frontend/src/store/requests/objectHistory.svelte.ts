import { getHistory, type HistoryEntry, type HistoryPage } from "../../api/history";
import { failureOf } from "../../i18n/failure";
import type { Selection } from "../../model/permalink";

export interface ListedEntry extends HistoryEntry {
  /** Distinguishes the entries of one event. */
  key: string;
}

const PAGE_SIZE = 200;
/** The maximum number of new entries that are added to the list: if there are more, it is loaded again. */
const MAX_NEW = 1000;
/** The minimum interval between updates during a run. */
const UPDATE_MILLIS = 1_000;

/** The history of one pod or node, newest first, loaded in pages; it grows with the session. */
export class ObjectHistory {
  entries = $state.raw<readonly ListedEntry[]>([]);
  loading = $state(true);
  error = $state("");
  /** The `before` of the page before; null: the history is loaded from its beginning. */
  previous = $state<number | null>(null);
  /** The uids of the pods that had this name, oldest first. */
  lives = $state.raw<readonly string[]>([]);

  private readonly closing = new AbortController();
  /** The event up to which the history is loaded; -1: nothing is. */
  private loadedTo = -1;
  /** The event that the session has reached. */
  private reached = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly session: string,
    private readonly object: Selection,
  ) {}

  /** The session has reached this event: load new entries soon. */
  reach(event: number): void {
    this.reached = event;
    if (this.loadedTo < 0) {
      if (!this.timer && !this.error) this.schedule(0);
    } else if (event > this.loadedTo) this.schedule(UPDATE_MILLIS);
  }

  async loadEarlier(): Promise<void> {
    if (this.previous === null || this.loading) return;
    await this.fetch({ before: this.previous, tail: PAGE_SIZE }, (page) => {
      this.entries = [...this.entries, ...newestFirst(page)];
      this.previous = page.previous;
    });
  }

  retry(): void {
    this.error = "";
    void this.loadMissing();
  }

  close(): void {
    clearTimeout(this.timer);
    this.closing.abort();
  }

  private schedule(millis: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.loadMissing();
    }, millis);
  }

  private async loadMissing(): Promise<void> {
    if (this.loadedTo < 0) await this.loadNewest();
    else if (this.reached > this.loadedTo) await this.loadNew();
  }

  private loadNewest(): Promise<void> {
    return this.fetch({ tail: PAGE_SIZE }, (page) => {
      this.entries = newestFirst(page);
      this.previous = page.previous;
      this.update(page);
    });
  }

  private loadNew(): Promise<void> {
    return this.fetch({ after: this.loadedTo, limit: MAX_NEW }, async (page) => {
      // There is more: the gap is loaded when the user scrolls there.
      if (page.next !== null) {
        await this.loadNewest();
        return;
      }
      this.entries = [...newestFirst(page), ...this.entries];
      this.update(page);
    });
  }

  private update({ at, lives }: HistoryPage): void {
    this.loadedTo = at;
    this.lives = lives.map(({ uid }) => uid);
    if (this.reached > at) this.schedule(UPDATE_MILLIS);
  }

  private async fetch(range: Parameters<typeof getHistory>[2], use: (page: HistoryPage) => void | Promise<void>): Promise<void> {
    this.loading = true;
    try {
      const page = await getHistory(this.session, this.object, range, this.closing.signal);
      this.error = "";
      await use(page);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      this.error = failureOf(error);
    } finally {
      this.loading = false;
    }
  }
}

function newestFirst({ results }: HistoryPage): ListedEntry[] {
  let event = -1;
  let index = 0;
  const entries = results.map((entry) => {
    index = entry.event === event ? index + 1 : 0;
    event = entry.event;
    return { ...entry, key: `${event}/${index}` };
  });
  return entries.reverse();
}
