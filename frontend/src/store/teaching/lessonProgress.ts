import { keepProgress, type Answer, type LessonProgress } from "../../api/lessons";
import { readStored, writeStored } from "../page/browserStorage";

/** The user's position in a session of a lesson, and their answers there. */
export interface StoredProgress {
  stop: string;
  answers: Readonly<Record<string, Answer>>;
}

const SAVE_DELAY_MILLIS = 500;

/**
 * Stores the user's progress: in this browser at once, and on the server for users with an account, so that it is available on other
 * machines and outlives the session. Guests have it in this browser only.
 */
export class ProgressKeeper {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting: (() => Promise<void>) | null = null;

  constructor(private readonly session: string) {}

  /** The stored position, of this browser or else of the server. */
  of(stored: LessonProgress | null): StoredProgress {
    const here = storedProgress(this.session);
    if (here.stop) return here;
    return stored?.session === this.session ? { stop: stored.stop, answers: stored.answers } : here;
  }

  keep(lesson: string, progress: StoredProgress, finished: boolean): void {
    storeProgress(this.session, progress);
    this.waiting = () => keepProgress(lesson, { ...progress, session: this.session, finished }).then(ignore, ignore);
    this.timer ??= setTimeout(() => void this.flush(), SAVE_DELAY_MILLIS);
  }

  /** Send to the server now, because the page is about to close. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const send = this.waiting;
    this.waiting = null;
    await send?.();
  }
}

/** If the server refuses or fails, the browser still has it. */
function ignore(): void {
  return;
}

const keyOf = (session: string): string => `schedviz.lesson.${session}`;

export function storeProgress(session: string, progress: StoredProgress): void {
  writeStored(keyOf(session), progress);
}

function storedProgress(session: string): StoredProgress {
  const { stop = "", answers = {} } = (readStored(keyOf(session)) ?? {}) as Partial<StoredProgress>;
  return { stop, answers };
}
