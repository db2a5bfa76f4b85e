import { t } from "../../i18n/translate";
import type { MoveLine } from "../../model/queue/queueMoves";

/** What the queue did with the pods, and why, as a sentence. */
export function outcomeOf({ requeue, to, stays, superseded }: MoveLine): string {
  if (!requeue) return "";
  if (superseded) return `${t("hint.inFlight")} ${t("hint.superseded")}`;
  if (requeue.gated) return t("hint.gated");
  const move = stays || to === "unschedulablePods" ? t(requeue.answers.length ? "hint.skip" : "hint.unasked") : movedBecause(requeue.strategy, to ?? "");
  return requeue.inFlight ? `${move} ${t("hint.inFlight")}` : move;
}

function movedBecause(strategy: string | null, queue: string): string {
  if (strategy === "immediately") return t("hint.immediately", { queue });
  return t(queue === "activeQ" ? "hint.noBackoff" : "hint.afterBackoff", { queue });
}
