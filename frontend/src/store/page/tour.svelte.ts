/** The steps of the tour: the panel that each explains. */
export const TOUR = ["queue", "cycle", "cache", "transport"] as const;

const KEY = "schedviz.tour";

/** The tour of a session's page, which a browser shows once. */
export class Tour {
  /** The number of the current step; null: finished, skipped, or shown before. */
  step = $state<number | null>(null);
  /** Whether it ended or was skipped on this page. */
  hasEnded = $state(false);

  constructor(isOffered: boolean) {
    if (isOffered && !wasShown()) this.step = 0;
  }

  get panel(): (typeof TOUR)[number] | "" {
    return this.step === null ? "" : TOUR[this.step]!;
  }

  next = (): void => {
    if (this.step === null) return;
    if (this.step + 1 < TOUR.length) this.step += 1;
    else this.end();
  };

  /** The page shows what to do at the end of a run instead. A tour that had not gone on is offered again by another session. */
  yieldToEnding = (): void => {
    if (this.step === 0) this.step = null;
    else this.end();
  };

  end = (): void => {
    if (this.step === null) return;
    this.step = null;
    this.hasEnded = true;
    try {
      localStorage.setItem(KEY, "done");
    } catch {
      // Storage may be disabled by the user: then no tour is shown.
    }
  };
}

function wasShown(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return true;
  }
}
