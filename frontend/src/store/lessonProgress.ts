import { keepProgress, type Answer, type LessonProgress } from "../api/lessons";

/** Where somebody is in a session of a lesson, and what was answered there. */
export interface Kept {
  stop: string;
  answers: Readonly<Record<string, Answer>>;
}

const WAIT_MILLIS = 500;

/**
 * Remembers how far somebody is: in this browser at once, and with the server for whoever has an account, so that it is there on another
 * machine and outlives the session. Who has none keeps it in this browser alone.
 */
export class ProgressKeeper {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting: (() => Promise<void>) | null = null;

  constructor(private readonly session: string) {}

  /** Where one is, as this browser or else the server knows it. */
  of(told: LessonProgress | null): Kept {
    const here = keptFor(this.session);
    if (here.stop) return here;
    return told?.session === this.session ? { stop: told.stop, answers: told.answers } : here;
  }

  keep(lesson: string, kept: Kept, finished: boolean): void {
    keepFor(this.session, kept);
    this.waiting = () => keepProgress(lesson, { ...kept, session: this.session, finished }).then(ignore, ignore);
    this.timer ??= setTimeout(() => void this.flush(), WAIT_MILLIS);
  }

  /** Tell the server now: the page is about to be left. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const send = this.waiting;
    this.waiting = null;
    await send?.();
  }
}

/** Who may not keep it with the server, or cannot now, has it in the browser. */
function ignore(): void {
  return;
}

const placeOf = (session: string): string => `schedviz.lesson.${session}`;

export function keepFor(session: string, kept: Kept): void {
  try {
    localStorage.setItem(placeOf(session), JSON.stringify(kept));
  } catch {
    // Without storage one begins where the session is.
  }
}

function keptFor(session: string): Kept {
  try {
    const kept = JSON.parse(localStorage.getItem(placeOf(session)) ?? "{}") as Partial<Kept>;
    return { stop: kept.stop ?? "", answers: kept.answers ?? {} };
  } catch {
    return { stop: "", answers: {} };
  }
}
