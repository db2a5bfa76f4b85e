import type { Phrase } from "./phrase";

/**
 * The sentence of an explanation of a pending pod in parts (schedviz/explain/sentence.py): `detail`, what the nearest nodes lack, answers; how many nodes
 * it fits (`fits`), and what preemption could do (`outlook`), follow. An `answer` is about all nodes, so that `fits` would repeat it.
 */
export interface AnswerParts {
  answer: Phrase;
  rest: readonly Phrase[];
}

/** The parts of a sentence that has numbers; null: it has none, and is read as a whole. */
export function answerParts(sentence: Phrase | null | undefined): AnswerParts | null {
  const { answer, detail, fits, outlook } = sentence?.values ?? {};
  if (typeof answer === "object") return { answer, rest: typeof outlook === "object" ? [outlook] : [] };
  if (typeof detail !== "object" || typeof fits !== "object") return null;
  return { answer: detail, rest: typeof outlook === "object" ? [fits, outlook] : [fits] };
}
