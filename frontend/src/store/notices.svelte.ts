import { failureOf } from "../i18n/failure";

export interface Notice {
  id: number;
  tone: "error" | "info";
  text: string;
}

const NOTICE_MILLIS = 8_000;
/** The most that are visible at once. */
const MAX_VISIBLE = 3;

/** Short messages of a page: the newest ones, each for a few seconds. */
export class Notices {
  visible = $state.raw<readonly Notice[]>([]);

  private count = 0;

  show(tone: Notice["tone"], text: string): void {
    if (!text) return;
    const notice = { id: ++this.count, tone, text };
    this.visible = [...this.visible.slice(1 - MAX_VISIBLE), notice];
    setTimeout(() => {
      this.dismiss(notice.id);
    }, NOTICE_MILLIS);
  }

  /** Show why a REST call failed. A cancelled call shows nothing. */
  showError(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    this.show("error", failureOf(error));
  }

  dismiss(id: number): void {
    this.visible = this.visible.filter((notice) => notice.id !== id);
  }
}
