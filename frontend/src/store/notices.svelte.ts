import { failureOf } from "../i18n/failure";

export interface Notice {
  id: number;
  tone: "error" | "info";
  text: string;
}

const NOTICE_MILLIS = 8_000;
/** More of them nobody reads. */
const MOST = 3;

/** What a page tells in a word and takes away again: the newest, for a few seconds. */
export class Notices {
  shown = $state.raw<readonly Notice[]>([]);

  private count = 0;

  tell(tone: Notice["tone"], text: string): void {
    if (!text) return;
    const notice = { id: ++this.count, tone, text };
    this.shown = [...this.shown.slice(1 - MOST), notice];
    setTimeout(() => {
      this.dismiss(notice.id);
    }, NOTICE_MILLIS);
  }

  /** Tell of what a call of REST was refused for. */
  tellOf(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    this.tell("error", failureOf(error));
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((notice) => notice.id !== id);
  }
}
