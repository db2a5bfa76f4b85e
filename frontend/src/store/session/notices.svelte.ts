import { failureOf } from "../../i18n/failure";

export interface Notice {
  id: number;
  tone: "error" | "info";
  text: string;
}

const NOTICE_MILLIS = 8_000;
/** The most that are visible at once. */
const MAX_VISIBLE = 3;

/** Short messages of a page, each for a few seconds: the newest errors, and the newest hint. */
export class Notices {
  visible = $state.raw<readonly Notice[]>([]);

  private count = 0;

  show(tone: Notice["tone"], text: string): void {
    if (!text) return;
    const notice = { id: ++this.count, tone, text };
    // A hint is about the last action, so it replaces that of the action before.
    const others = tone === "info" ? this.visible.filter((each) => each.tone === "error") : this.visible;
    this.visible = [...others.slice(1 - MAX_VISIBLE), notice];
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
