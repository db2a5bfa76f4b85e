/** The plain sentences about pending pods, for the messages of the scheduler in a comparison. */

export interface Sentence {
  text: string;
  lang?: string | undefined;
}

export type SentenceByPod = ReadonlyMap<string, Sentence>;

/** The most sentences for one message: pods with the same message may have different numbers. */
const MAX_SENTENCES = 3;

interface Waiting {
  groups: readonly { pods: readonly string[] }[];
}

/** The sentence of each pending pod; `sentenceOf` prints that of a group, or that of its reason, "" if there is none. */
export function sentencesByPod<R extends Waiting>(overview: { reasons: readonly R[] }, sentenceOf: (group: R["groups"][number], reason: R) => Sentence): Map<string, Sentence> {
  const found = new Map<string, Sentence>();
  for (const reason of overview.reasons)
    for (const group of reason.groups) {
      const sentence = sentenceOf(group, reason);
      if (sentence.text) for (const pod of group.pods) found.set(pod, sentence);
    }
  return found;
}

/** The different sentences of the pods with one message; none if one of the pods has none. */
export function sentencesOf(reason: { a: readonly string[]; b: readonly string[] }, said: { a: SentenceByPod; b: SentenceByPod }): Sentence[] {
  const sentences = [...reason.a.map((pod) => said.a.get(pod)), ...reason.b.map((pod) => said.b.get(pod))];
  const different = new Map<string, Sentence>();
  for (const sentence of sentences) {
    if (!sentence) return [];
    different.set(sentence.text, sentence);
  }
  return different.size <= MAX_SENTENCES ? [...different.values()] : [];
}
