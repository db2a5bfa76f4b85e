import { getStory, type StoryAnswer, type StoryEntry } from "../api/stories";
import { failureOf } from "../i18n/failure";
import type { Selection } from "../model/permalink";

export interface HistoryEntry extends StoryEntry {
  /** An event may have several entries. */
  key: string;
}

const PAGE = 200;
const MOST = 1000;
/** The shortest interval between updates during a run. */
const BETWEEN_MILLIS = 1_000;

/** The history of one pod or node, newest first, loaded in pages; it grows with the session. */
export class Story {
  entries = $state.raw<readonly HistoryEntry[]>([]);
  loading = $state(true);
  error = $state("");
  /** The `before` of the page before; null: the history is loaded from its beginning. */
  previous = $state<number | null>(null);
  /** The pods that had this name, oldest first. */
  lives = $state.raw<readonly string[]>([]);

  private readonly closing = new AbortController();
  private at = -1;
  private wanted = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly session: string,
    private readonly thing: Selection,
  ) {}

  /** The session has reached this event: load new entries soon. */
  reach(event: number): void {
    this.wanted = event;
    if (this.at < 0) {
      if (!this.timer && !this.error) this.schedule(0);
    } else if (event > this.at) this.schedule(BETWEEN_MILLIS);
  }

  async loadEarlier(): Promise<void> {
    if (this.previous === null || this.loading) return;
    await this.fetch({ before: this.previous, tail: PAGE }, (answer) => {
      this.entries = [...this.entries, ...entriesOf(answer)];
      this.previous = answer.previous;
    });
  }

  retry(): void {
    this.error = "";
    void this.go();
  }

  close(): void {
    clearTimeout(this.timer);
    this.closing.abort();
  }

  private schedule(millis: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.go();
    }, millis);
  }

  private async go(): Promise<void> {
    if (this.at < 0) await this.begin();
    else if (this.wanted > this.at) await this.goOn();
  }

  private begin(): Promise<void> {
    return this.fetch({ tail: PAGE }, (answer) => {
      this.entries = entriesOf(answer);
      this.previous = answer.previous;
      this.take(answer);
    });
  }

  private goOn(): Promise<void> {
    return this.fetch({ after: this.at, limit: MOST }, async (answer) => {
      // More than a page is new: the gap is loaded when the user scrolls there.
      if (answer.next !== null) {
        await this.begin();
        return;
      }
      this.entries = [...entriesOf(answer), ...this.entries];
      this.take(answer);
    });
  }

  private take(answer: StoryAnswer): void {
    this.at = answer.at;
    this.lives = answer.lives.map(({ uid }) => uid);
    if (this.wanted > this.at) this.schedule(BETWEEN_MILLIS);
  }

  private async fetch(page: Parameters<typeof getStory>[2], use: (answer: StoryAnswer) => void | Promise<void>): Promise<void> {
    this.loading = true;
    try {
      const answer = await getStory(this.session, this.thing, page, this.closing.signal);
      this.error = "";
      await use(answer);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      this.error = failureOf(error);
    } finally {
      this.loading = false;
    }
  }
}

function entriesOf({ results }: StoryAnswer): HistoryEntry[] {
  let event = -1;
  let index = 0;
  const entries = results.map((entry) => {
    index = entry.event === event ? index + 1 : 0;
    event = entry.event;
    return { ...entry, key: `${event}/${index}` };
  });
  return entries.reverse();
}
