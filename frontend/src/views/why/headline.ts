import type { Explanation } from "../../api/explain";
import { say, sayPhrase, type Said } from "../../i18n/phrase";
import { answerParts } from "../../model/text/answerParts";

/** How a pod stands that has no node yet. */
const WAITING: readonly string[] = ["pending", "nominated", "gated", "ignored"];

export function isWaiting({ standing }: Pick<Explanation, "standing">): boolean {
  return WAITING.includes(standing);
}

export interface Headline extends Said {
  /** The whole sentence, which begins with the name of the pod; otherwise an answer, which may begin a sentence. */
  isWhole: boolean;
}

/** The headline of a pending pod's explanation, the same wherever the page shows it: the answer, or the whole sentence if it has no parts. */
export function headlineOf({ sentence, sentencePhrase }: Pick<Explanation, "sentence" | "sentencePhrase">): Headline {
  const parts = answerParts(sentencePhrase);
  return { ...(parts ? sayPhrase(parts.answer) : say(sentencePhrase, sentence)), isWhole: !parts };
}
