import type { Phrase } from "./phrase";

/**
 * The sentence of an explanation of a pending pod in parts (schedviz/explain/sentence.py): `detail`, what the nearest nodes lack, answers; how many nodes
 * it fits (`fits`), and what preemption could do (`outlook`), follow.
 */
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
