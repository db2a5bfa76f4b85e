/** A plugin's weighted score on both sides; null: it did not score the node. */
export interface ScoreOnSides {
  a: number | null;
  b: number | null;
}

/** B's score minus A's. A plugin that did not score a node added nothing to its total. */
export function scoreDifference({ a, b }: ScoreOnSides): number {
  return (b ?? 0) - (a ?? 0);
}

/** Those that contribute to the difference of the totals, largest contribution first. */
export function contributing<Pair extends ScoreOnSides>(pairs: readonly Pair[]): Pair[] {
  return pairs.filter((pair) => scoreDifference(pair) !== 0).sort((x, y) => Math.abs(scoreDifference(y)) - Math.abs(scoreDifference(x)));
}
