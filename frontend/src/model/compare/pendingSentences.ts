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

/** Pods that are pending for one reason, as the messages of the scheduler that say so. */
export interface SameReason<R> {
  sentences: Sentence[];
  messages: R[];
  a: string[];
  b: string[];
  countA: number;
  countB: number;
}

/** Messages with the same sentences are one reason: those of two releases differ in words. A message without sentences is a reason of its own. */
export function sameReasons<R extends { a: readonly string[]; b: readonly string[]; countA: number; countB: number }>(
  reasons: readonly R[],
  said: { a: SentenceByPod; b: SentenceByPod },
): SameReason<R>[] {
  const found = new Map<string, SameReason<R>>();
  for (const [i, reason] of reasons.entries()) {
    const sentences = sentencesOf(reason, said);
    const key = sentences.length ? sentences.map(({ text }) => text).sort().join("\n") : String(i);
    const same = found.get(key) ?? { sentences, messages: [], a: [], b: [], countA: 0, countB: 0 };
    same.messages.push(reason);
    same.a.push(...reason.a);
    same.b.push(...reason.b);
    same.countA += reason.countA;
    same.countB += reason.countB;
    found.set(key, same);
  }
  // A's messages come before those that only B has.
  for (const { messages } of found.values()) messages.sort((x, y) => Number(y.countA > 0) - Number(x.countA > 0));
  return [...found.values()].sort((x, y) => y.countA + y.countB - x.countA - x.countB);
}
