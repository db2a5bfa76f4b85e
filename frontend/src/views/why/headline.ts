import type { Explanation } from "../../api/explain";
import { say, sayPhrase, type Said } from "../../i18n/phrase";
import { answerParts } from "../../model/answerParts";

/** How a pod stands that has no node yet. */
const WAITING: readonly string[] = ["pending", "nominated", "gated", "ignored"];

export function isWaiting({ standing }: Pick<Explanation, "standing">): boolean {
  return WAITING.includes(standing);
}

/** The headline of a pending pod's explanation, the same wherever the page shows it: the answer, which is no whole sentence, or the whole sentence if it has no parts. */
export function headlineOf({ sentence, sentencePhrase }: Pick<Explanation, "sentence" | "sentencePhrase">): Said {
  const parts = answerParts(sentencePhrase);
  return parts ? sayPhrase(parts.answer) : say(sentencePhrase, sentence);
}
