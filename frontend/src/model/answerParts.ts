import type { Phrase } from "./phrase";

/** The sentence of an explanation in parts: the numbers that answer, and what else it says. */
export interface AnswerParts {
  answer: Phrase;
  rest: readonly Phrase[];
}

/** The parts of a sentence that has numbers; null: it has none, and is read as a whole. */
export function answerParts(sentence: Phrase | null | undefined): AnswerParts | null {
  const { detail, fits, outlook } = sentence?.values ?? {};
  if (typeof detail !== "object" || typeof fits !== "object") return null;
  return { answer: detail, rest: typeof outlook === "object" ? [fits, outlook] : [fits] };
}
